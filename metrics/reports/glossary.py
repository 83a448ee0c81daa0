"""What every column of the tables means: one name per quantity, in tables, JSON, --fail-under, charts and Python."""

from collections.abc import Iterable
from dataclasses import dataclass

from .table import Table


@dataclass(frozen=True)
class Quantity:
    """What one name means.

    Attributes:
        meaning: one sentence.
        verbs: the verbs whose tables or JSON have it.
        header: what a table calls it, where that is not its name.
        short: what terminals and HTML call it, where its name is too long for a column.
    """

    meaning: str
    verbs: tuple[str, ...]
    header: str = ""
    short: str = ""


_ALL = ("score", "compare", "accuracy", "agree")
_SCORES = ("score", "compare")

QUANTITIES: dict[str, Quantity] = {
    # Estimates of the accuracy
    "accuracy": Quantity(
        "Estimated share of correct answers. With labels people's labels decide; without them it is the judge's share "
        "corrected for its measured errors.",
        ("score", "compare", "accuracy"),
    ),
    "low": Quantity("Lower end of the 95% interval of the estimate beside it.", _ALL),
    "high": Quantity("Upper end of the 95% interval of the estimate beside it.", _ALL),
    "ava_accuracy": Quantity(
        "Share of the answers that AVA judges correct; its errors are not corrected.", ("score", "compare", "accuracy")
    ),
    "judged": Quantity(
        "Share of the answers that the judge accepts, whichever judge it is; of AVA it is `ava_accuracy`.",
        ("accuracy",),
    ),
    "ava_score": Quantity(
        "Mean of AVA's probabilities that an answer is correct.", ("score", "compare", "agree"), short="score"
    ),
    "declined": Quantity("Share of the answers that give none, such as 'I don't know'.", ("accuracy",)),
    "source": Quantity("What it rests on: labels of people, the judge, or both.", ("accuracy",), "from"),
    "wrong": Quantity("Share that is neither correct nor declined: 1 - accuracy - declined.", ("accuracy",)),
    "accuracy_given_attempted": Quantity(
        "`accuracy` of the answers that are not declined.", ("accuracy",), short="if attempted"
    ),
    "ava_declined": Quantity(
        "Share of the answers that give none; a reference that declines too is met.", _SCORES, short="declined"
    ),
    "ava_wrong": Quantity(
        "Share that is neither judged correct nor declined: 1 - ava_accuracy - ava_declined.", _SCORES, short="wrong"
    ),
    "ava_accuracy_given_attempted": Quantity(
        "`ava_accuracy` of the answers that are not declined.", _SCORES, short="if attempted"
    ),
    "ava_label": Quantity("AVA's verdict of one answer: 1 correct, 0 not. Its mean is `ava_accuracy`.", ("score",)),
    "labelled": Quantity("Rows with a label of a person.", ("score", "accuracy")),
    "effective_sample_size": Quantity(
        "Labels drawn by chance that would give as narrow an interval without the judge.",
        ("accuracy",),
        "effective rows",
    ),
    "difference of accuracy": Quantity(
        "`accuracy` of the first system minus that of the second.", ("accuracy",), "difference of accuracy"
    ),
    "shared_questions": Quantity(
        "Questions that both systems of a pair answer.", ("accuracy",), "questions in common"
    ),
    # Counts
    "rows": Quantity("Rows that were read and are good; of generated questions, contexts.", _ALL, "contexts"),
    "predictions": Quantity(
        "Answers, or generated questions, that were scored.", ("score", "accuracy", "agree"), "answers"
    ),
    "skipped": Quantity("Bad rows that were left out.", ("score",)),
    # Metrics
    "aev": Quantity("AEv(alpha, N): precision and recall of n-grams, weighted by alpha.", _SCORES),
    "aev_precision": Quantity("PS(N): n-gram precision with the brevity penalty.", _SCORES),
    "aev_recall": Quantity("RS(N): n-gram recall with the wordiness penalty.", _SCORES),
    "brevity_penalty": Quantity("Factor below 1 where answers are shorter than references / B.", _SCORES),
    "wordiness_penalty": Quantity("Factor below 1 where answers are longer than W times the references.", _SCORES),
    "length_ratio": Quantity("`prediction_length` / `reference_length`, which the JSON has.", ("score",)),
    "prediction_length": Quantity("Terms of the answers.", _SCORES),
    "reference_length": Quantity("Terms of the references, the closest in length where there are several.", _SCORES),
    "f_meta": Quantity("F-score of a set of generated questions against the human ones.", _SCORES),
    "f_meta_precision": Quantity(
        "u: how well each generated question is matched by a human one.", _SCORES, short="precision"
    ),
    "f_meta_recall": Quantity(
        "v: how well each human question is matched by a generated one.", _SCORES, short="recall"
    ),
    "f_meta_conventional": Quantity(
        "The usual mean over generated questions of the best match.", _SCORES, short="conventional"
    ),
    "f_meta_covered": Quantity(
        "Share of the human questions that are asked; a generated question asks the closest one only.",
        _SCORES,
        short="covered",
    ),
    "f_meta_relevant": Quantity("Share of the generated questions that ask a human one.", _SCORES, short="relevant"),
    "bleu1_kpqa": Quantity("BLEU-1 with keyphrase weights.", _SCORES),
    "rougeL_kpqa": Quantity("ROUGE-L with keyphrase weights.", _SCORES),
    "bertscore_kpqa": Quantity("BERTScore with keyphrase weights.", _SCORES),
    "bleu1": Quantity("BLEU-1 with equal weights.", _SCORES),
    "rougeL": Quantity("ROUGE-L with equal weights.", _SCORES),
    "bertscore": Quantity("BERTScore with equal weights.", _SCORES),
    "grounding": Quantity("Mean share of the sentences of an answer that the retrieved passages support.", _SCORES),
    "grounding_answers": Quantity("Share of the answers of which every sentence is supported.", _SCORES),
    "grounding_score": Quantity(
        "Mean over answers of the lowest probability of a sentence.", ("score", "compare", "agree")
    ),
    "grounding_answer_rate": Quantity(
        "Share of the answers that state something; only these count in the other means of grounding.", _SCORES
    ),
    "correct_grounded": Quantity("Share of the answers that AVA accepts and the passages support.", ("score",)),
    "correct_ungrounded": Quantity("Share that AVA accepts and the passages do not support.", ("score",)),
    "wrong_grounded": Quantity("Share that AVA rejects although the passages support it.", ("score",)),
    "wrong_ungrounded": Quantity("Share that AVA rejects and the passages do not support.", ("score",)),
    # Comparisons
    "ranks": Quantity("Ranks that chance leaves open: best_rank to worst_rank.", ("compare",)),
    "cluster": Quantity(
        "Number of the group of systems; every system of a group is significantly better than those of later groups.",
        ("compare",),
    ),
    "difference": Quantity(
        "The named score of the first system minus that of the second, without a correction for a judge's errors.",
        ("compare",),
        "difference of <score>",
    ),
    "p": Quantity("p-value of the paired, studentized bootstrap test.", ("compare",)),
    "p_corrected": Quantity("The same, corrected for the number of tests.", ("compare",), "corrected"),
    "permutation_p": Quantity("p-value of the paired permutation test.", ("agree",), "permutation p"),
    "wins / ties / losses": Quantity("Questions on which the first system is better, equal or worse.", ("compare",)),
    # Agreement with people
    "human": Quantity("Mean of the human scores.", ("agree",)),
    "pearson": Quantity("Pearson's correlation of metric and human scores.", ("agree",), "Pearson r"),
    "spearman": Quantity("Spearman's rank correlation.", ("agree",), "Spearman rho"),
    "kendall": Quantity("Kendall's rank correlation, tau-b.", ("agree",), "Kendall tau-b"),
    "auc": Quantity(
        "Probability that a correct answer scores above a wrong one: area under the ROC curve.", ("agree",), "AUC"
    ),
    "permutation_p_holm": Quantity("p-value corrected by Holm's method.", ("agree",), "p corrected"),
    "average_precision": Quantity("Area under the precision-recall curve.", ("agree",), "average precision"),
    "ece": Quantity("Expected calibration error of scores taken as probabilities.", ("agree",), "ECE"),
    "brier": Quantity("Mean squared error of scores taken as probabilities.", ("agree",), "Brier"),
    "threshold": Quantity(
        "Score from which on the judge calls an answer correct.", ("agree", "calibrate"), "correct from"
    ),
    "agreement": Quantity(
        "Share of the labelled answers on which judge and people give the same verdict.",
        ("score", "accuracy", "agree", "calibrate"),
    ),
    "kappa": Quantity(
        "Cohen's kappa: agreement of judge and people beyond chance; 1 is full agreement, 0 is chance.",
        ("score", "accuracy", "agree"),
    ),
    "accepted": Quantity("Answers that people and judge call correct.", ("score", "accuracy", "agree")),
    "missed": Quantity("Answers that people call correct and the judge rejects.", ("score", "accuracy", "agree")),
    "rejected": Quantity("Answers that people and judge call wrong.", ("score", "accuracy", "agree")),
    "let_through": Quantity("Answers that people call wrong and the judge accepts.", ("score", "accuracy", "agree")),
    "sensitivity": Quantity(
        "Share of the answers right by people's labels that the judge accepts.",
        ("score", "accuracy", "agree", "calibrate"),
    ),
    "specificity": Quantity(
        "Share of the answers wrong by people's labels that the judge rejects.",
        ("score", "accuracy", "agree", "calibrate"),
    ),
}


TEXTS = {  # columns that hold names and texts
    "system": "Who answered.",
    "right": "Estimated share of right answers, with its 95% interval; 'cannot tell': these rows do not show it.",
    "from": "What the accuracy comes from; of labels how many there are of how many rows.",
    "row": "Id of the row, else its line in the file.",
    "why": "Why a person should read the answer.",
    "question": "What was asked.",
    "answer": "What the system answered.",
    "accepted answer": "What is right: the references of the row.",
}


def named(header: str) -> Quantity | None:
    """Return what a column of a table means; None for one that holds names, or whose name is that of a column.

    >>> named("accuracy").verbs
    ('score', 'compare', 'accuracy')
    """
    return QUANTITIES.get(header) or next((value for value in QUANTITIES.values() if value.header == header), None)


def meanings(table: Table) -> list[tuple[str, str]]:
    """Return what the columns of a table are called and what they mean, those that the glossary has.

    >>> meanings(Table("", ["system", "wins", "rejected"], []))
    [('system', 'Who answered.'), ('rejected', 'Answers that people and judge call wrong.')]
    """
    result = []
    for said, name in zip(table.headings, table.header, strict=True):
        quantity = named(name)
        meaning = quantity.meaning if quantity else TEXTS.get(name)
        if meaning:
            result.append((said, meaning + f" Its name in JSON: `{name}`." * (said != name)))
    return result


def judge_names(judge: str, header: Iterable[str], whose: str) -> dict[str, str]:
    """Return what a table calls a judge's numbers, and the accuracy beside them by what it rests on.

    Args:
        judge: the metric.
        header: names of the columns.
        whose: what the accuracy rests on, see `judge_errors.whose`.

    >>> judge_names("ava", ["system", "ava_wrong", "ava_accuracy", "accuracy"], "people")
    {'ava_wrong': 'judge: wrong', 'ava_accuracy': 'judge: accuracy', 'accuracy': 'people: accuracy'}
    """
    prefix = f"{judge}_"
    names = {
        name: f"judge: {QUANTITIES[name].short or name.removeprefix(prefix)}"
        for name in header
        if name.startswith(prefix) and name in QUANTITIES
    }
    return names | ({"accuracy": f"{whose}: accuracy"} if whose and "accuracy" in header else {})


def short_names(header: Iterable[str]) -> dict[str, str]:
    """Return the columns of a table that terminals and HTML call by a shorter name, with that name.

    >>> short_names(["system", "ava_accuracy", "ava_wrong"])
    {'ava_wrong': 'wrong'}
    """
    return {name: QUANTITIES[name].short for name in header if name in QUANTITIES and QUANTITIES[name].short}
