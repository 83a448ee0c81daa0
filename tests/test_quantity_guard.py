"""The rule for quantities: pairs of an answer that conflicts with its reference and one that does not, by hand."""

import time

import pytest
from genqa_metrics.ava import explaining, judging
from genqa_metrics.ava.amounts import amounts
from genqa_metrics.ava.quantity_guard import conflict
from genqa_metrics.ava.rules import Rules

WHEN_OPENED, REVENUE = "When did the observatory open?", "What was the company's revenue in 2023?"
PAIRS = [  # question, reference, conflicting answer, answer that means the same
    (WHEN_OPENED, "12 March 1894", "It opened on the 12th of May 1894.", "On the 12th of March, 1894."),
    (WHEN_OPENED, "12 March", "On the 12th of May.", "March 12"),
    (WHEN_OPENED, "12 March 1894", "1894-03-21", "1894-03-12"),
    (WHEN_OPENED, "March 1894", "It opened in April 1894.", "It opened on March 12, 1894."),
    (WHEN_OPENED, "It opened in 1894.", "It opened in 1984.", "In 1894; it closed in 1950."),
    (REVENUE, "$4.2 billion", "Its revenue was 4.2 million.", "4,200 million dollars"),
    (REVENUE, "$4.2 billion", "4.2 million dollars", "$4.23 billion"),
    (REVENUE, "4.2 billion euros", "$4.2 billion", "€4.2 billion"),
    ("How much memory does the cache use?", "25 MB", "It uses 25 GB.", "25,000 KB"),
    ("How much does the ticket cost?", "$40", "€40", "forty dollars"),
    ("When does the bakery open?", "8 in the morning", "8 in the evening", "at 8 am"),
    ("At what time does the ferry leave?", "9 pm", "It leaves at 9 am.", "at 21:00"),
    ("How cold does it get in January?", "-12 °C", "12 °C", "minus 12 degrees Celsius"),
    ("How cold does it get in January?", "-12", "12", "12 degrees below zero"),
    ("What temperature does the oven need?", "180 °C", "180 °F", "356 °F"),
    ("How long is the trail?", "5 miles", "The trail is 5 km long.", "It is 8 km long."),
    ("How long does the download take?", "30 minutes", "About 30 seconds.", "half an hour"),
    ("How long does the film last?", "2 hours and 15 minutes", "1 hour and 15 minutes", "135 minutes"),
    ("How long does the warranty last?", "two years", "The warranty lasts two months.", "24 months"),
    ("How many legs does an insect have?", "An insect has six legs.", "An insect has eight legs.", "It has 6 legs."),
    ("In which century was the abbey founded?", "the 12th century", "in the 13th century", "in 1150"),
    ("In what decade was the bridge built?", "1890s", "the 1980s", "1894"),
    ("When did the emperor die?", "44 BC", "44 AD", "in 44 B.C."),
    ("How old was she when she won?", "19", "She was 91 years old.", "nineteen years old"),
    ("What percentage of voters took part?", "64%", "46 percent of the voters took part.", "64 per cent"),
    ("How much does the parcel weigh?", "3 kg", "3 lb", "3,000 g"),
    ("How far is the station?", "800 m", "It is 8 km away.", "0.8 km"),
    ("How many people live in the town?", "12,400", "124,000 people live there.", "Some 12 thousand people."),
    ("How fast is the train?", "300 km/h", "300 mph", "186 mph"),
    ("How tall is she?", "5 ft 10 in", "5 ft 1 in", "178 cm"),
]
SILENT = [  # the rule does not know enough, and the model decides
    ("How many eggs are in a tray?", "12", "a dozen"),
    ("How many players are there?", "seven", "a keeper plus six in the field"),
    ("How many players are there?", "seven", "one more than six"),
    ("How many lines does it have?", "19", "five tercets and a quatrain"),
    ("In what year was it built?", "1888", "One year before the tower of 1889."),
    ("In what year was it built?", "1888", "Not in 1889."),
    ("In what year was it built?", "1945", "nineteen forty-six"),
    ("When was he born?", "1 September", "the day after 31 August"),
    ("When does it start?", "11 July", "2018"),
    ("How many missions landed?", "six", "Apollo 11 was the first."),
    ("How many days does it take?", "14", "two weeks"),
    ("How many years did it last?", "30", "three decades"),
    ("How much of it is water?", "a third", "40%"),
    ("How much profit was made (in USD millions)?", "303", "$302,578,000"),
    ("Which reactor is the oldest?", "Unit 2", "Unit 3"),
    ("How long is the pause?", "30 to 40 minutes", "20 minutes"),
    ("About how many people live there?", "5,000", "5,300"),
    ("How many were there?", "18,426", "18, 426"),
    ("When was it banned?", "1997", "in19971"),
    ("How many seats are there?", "99", "The hall of 1971 has rows 5 to 120."),
]


@pytest.mark.parametrize(("question", "reference", "wrong", "right"), PAIRS)
def test_a_conflicting_quantity_is_found_and_an_equal_one_is_not(question, reference, wrong, right):
    assert conflict(question, [reference], wrong) is not None
    assert conflict(question, [reference], right) is None
    assert conflict(question, [reference], reference) is None


@pytest.mark.parametrize(("question", "reference", "answer"), SILENT)
def test_the_rule_is_silent_where_it_is_not_sure(question, reference, answer):
    assert conflict(question, [reference], answer) is None


def test_references_must_agree_and_any_of_them_may_be_equal():
    question = "When did the team win?"
    assert conflict(question, ["1998", "2015"], "2016") is None
    assert conflict(question, ["the year 1998", "1998"], "2016").said == "2016"
    assert conflict(question, ["the season before the move", "1998"], "2016") is None
    assert conflict("How much is it?", ["6 pounds", "£6"], "£6") is None


def test_numbers_of_the_question_contradict_nothing():
    question, reference = "How many of the 50 states have a coast?", ["23"]
    assert conflict(question, reference, "Of the 50 states, many do.") is None
    assert conflict(question, reference, "Of the 50 states, 32 do.").said == "32"


def test_long_texts_cost_nothing():
    start = time.process_time()
    for text in ("1 " * 50_000, "a" * 100_000 + "1", "not 1" * 20_000, "May " * 30_000 + "1", "one " * 30_000):
        assert conflict("How many are there?", ["2"], text) is None
        assert conflict(f"How many {text}", [f"2 {text}"], "3") is None
    assert time.process_time() - start < 2


def test_a_measure_in_two_units_is_one_amount():
    (amount,) = amounts("1 hour and 30 minutes")
    assert (amount.kind, amount.low) == ("seconds", 5400)


class ModelThatAccepts:
    """A judge whose model accepts everything, to see what rules do."""

    configuration, marks, max_length = "a1-r_qt", None, 128
    reference_aggregation, long_answer, passage = "max", 150, 40

    def calibrated(self, logits, lengths):
        return 1 / (1 + 2.718**-logits)


@pytest.fixture
def accepting(monkeypatch):
    monkeypatch.setattr(judging.Judge, "logits", lambda self, triples: judging.np.full(len(triples), 3.0))
    return lambda rules: judging.Judge(ModelThatAccepts(), rules=rules)


@pytest.mark.parametrize("how", ["max", "mean", "joined"])
def test_the_rule_goes_before_the_model_and_can_be_turned_off(accepting, how):
    row = ["When did it open?"], [["12 March 1894", "March 12, 1894"]], ["On the 12th of May 1894."]
    assert accepting(Rules()).probabilities(*row, how)[0] < 0.01
    assert accepting(Rules(quantities=False)).probabilities(*row, how)[0] > 0.9
    assert accepting(Rules(False, False)).probabilities(*row, how)[0] > 0.9


def test_without_rules_an_answer_is_read_as_it_is(accepting, monkeypatch):
    read = []
    judge = accepting(Rules(False, False))
    monkeypatch.setattr(judge, "logits", lambda triples: read.extend(triples) or judging.np.zeros(len(triples)))
    long = "It is far away. " * 100
    judge.probabilities(["Who?"] * 3, [["Ann"]] * 3, ["<think>Bob?</think> Ann", "Ann", long], "mean")
    assert [answer for *_, answer in read] == ["<think>Bob?</think> Ann", "Ann", long]


def test_the_reason_names_both_quantities(accepting):
    question, references, answer = "When did it open?", ["12 March 1894"], "On the 12th of May 1894."
    judge = accepting(Rules())
    row = question, references, answer
    by_rule = [explaining.reason_by_rule(judge.rules, *row)]
    found = explaining.explanations(*([each] for each in row), judge.probabilities, 0.5, by_rule)
    assert found[0]["reason"] == ("'12th of May 1894' counts against it; accepted: '12 March 1894' (checked by rule).")
