"""What grounding finds in rows, made by no model."""

from genqa_metrics.rows.reading import Item
from genqa_metrics.verbs.explain.unsupported import Grounded, GroundedAnswer, Judged


def judged(text="It was built in 1887."):
    """One of two answers with a contradicted and two unsupported sentences; every text is the given one."""
    item = Item(text, 3, text, text, text, [text], [], (None, None), [text])
    sentences = (
        Judged(text, "contradicted", 0.2, 1, text, text),
        Judged(text, "unsupported", 0.001, 1, text, None),
        Judged(text, "unsupported", 0.1, 1, None, None),
        Judged(text, "supported", 0.999, 1, text, None),
    )
    answer = GroundedAnswer(item, text, sentences)
    return Grounded((answer,), {text: 2}, {text: 1}, 0, 0.5, text, (text,), "grounding|threshold:0.5|version:1")
