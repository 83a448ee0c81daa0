"""Questions with candidate answers, and a judge that knows which are right."""

from training.studies.answer_ranking.candidates import Question, questions_of

ROWS = [
    ("who wrote the blue book ?", "Ann Lee wrote the blue book in 1901 .", 1),
    ("who wrote the blue book ?", "The blue book was written by Ann Lee .", 1),
    ("who wrote the blue book ?", "A book is read by many people , even by those who do not like it .", 0),
    ("who wrote the blue book ?", "It rains .", 0),
    ("when was the old bridge built ?", "The sea is wide and deep , and ships of many lands cross it .", 0),
    ("when was the old bridge built ?", "The old bridge was built in 1850 .", 1),
    ("when was the old bridge built ?", "In 1850 workers built the old bridge .", 1),
    ("how high is the tower ?", "The tower is 90 meters high .", 1),
    ("how high is the tower ?", "A dog ran .", 0),
    ("why is the sky dark ?", "Nobody knows .", 0),
]


def questions() -> list[Question]:
    return questions_of([dict(zip(("question", "answer", "label"), row, strict=True)) for row in ROWS])


def gold_judge(asked, references, answers):
    """Return the gold label: a stand-in for a judge that is never wrong."""
    labels = {(q.text, c): label for q in questions() for c, label in zip(q.candidates, q.labels, strict=True)}
    return [float(labels[pair]) for pair in zip(asked, answers, strict=True)]
