"""Cases to look at: questions, accepted answers, and names and answers of up to four systems, a line a question."""

from sharing import Example

QUESTIONS = """How many eggs are in a dozen?
Who wrote Hamlet?
What is the capital of Australia?
Where does the Danube end?
When did the Berlin Wall fall?
What do bees make?
How long is a marathon?
Who painted the ceiling of the Sistine Chapel?
Which planet is closest to the sun?
How many legs has a spider?
What is the boiling point of water at sea level?
In which year did the Titanic sink?"""
REFERENCES = """12 | twelve
William Shakespeare
Canberra
the Black Sea
9 November 1989 | in 1989
honey
42.195 kilometres | about 26.2 miles
Michelangelo
Mercury
eight
100 degrees Celsius | 212 degrees Fahrenheit
1912"""
CHATTY = """There are twelve eggs in a dozen.
Hamlet was written by William Shakespeare, around the year 1600.
Many people think of Sydney, but the capital of Australia is Canberra.
After flowing through ten countries the Danube ends in the Black Sea.
The Berlin Wall fell on the 9th of November 1989.
Bees make honey, and wax for their combs.
A marathon is a little more than 42 kilometres long.
The ceiling of the Sistine Chapel was painted by Michelangelo.
The planet that is closest to the sun is Mercury.
A spider has eight legs.
At sea level water boils at 100 degrees Celsius.
The Titanic sank in April 1912."""
CARELESS = """There are ten eggs in a dozen.
Hamlet was written by Christopher Marlowe.
The capital of Australia is Sydney.
The Danube ends in the Black Sea.
The Berlin Wall fell on 9 November 1991.
Bees make honey.
A marathon is 26 kilometres long.
The ceiling of the Sistine Chapel was painted by Leonardo.
The planet that is closest to the sun is Venus.
A spider has six legs.
At sea level water boils at 90 degrees Celsius.
The Titanic sank in 1921."""
TERSE = """12
Shakespeare
Canberra
Black Sea
1989
honey
26.2 miles
Michelangelo
Mercury
8
100 °C
1912"""

SHORT_QUESTIONS = """How many legs has an insect?
When did Lincoln die?
What is the capital of Brazil?
Who wrote Faust?
Can penguins fly?
How long is a day on Venus?
Which metal is liquid at room temperature?
In which sea lies Malta?"""
SENTENCES = """An insect has six legs.
Lincoln died in 1865.
The capital of Brazil is Brasilia.
Faust was written by Goethe.
No, penguins cannot fly.
A day on Venus is 243 Earth days long.
The metal that is liquid at room temperature is mercury.
Malta lies in the Mediterranean Sea."""
ECHO = """An insect has eight legs.
Lincoln died in 1856.
The capital of Brazil is Rio de Janeiro.
Faust was written by Schiller.
Yes, penguins can fly.
A day on Venus is 24 Earth days long.
The metal that is liquid at room temperature is iron.
Malta lies in the Black Sea."""
OWN_WORDS = """six
the year 1865
Brasilia
Johann Wolfgang von Goethe
they can't
243 of ours
mercury
Mediterranean"""
LEVEL_A = """six legs
1865
Rio de Janeiro
Goethe
no
243 Earth days
iron
the Mediterranean"""
LEVEL_B = """eight legs
in 1865
Brasilia
Schiller
no, they cannot
24 hours
mercury
the Mediterranean Sea"""

CASES = [
    Example(
        "Chatty, careless and terse",
        (QUESTIONS, REFERENCES, "chatty", CHATTY, "careless", CARELESS, "terse", TERSE, "", ""),
        "Chatty and terse are right alike in other forms; scores of shared words punish the words around an answer.",
    ),
    Example(
        "The metrics disagree: right words, wrong facts",
        (SHORT_QUESTIONS, SENTENCES, "echo", ECHO, "own words", OWN_WORDS, "", "", "", ""),
        "Echo repeats the accepted sentence and changes the fact; own words says the fact and little else.",
    ),
    Example(
        "A difference that chance explains",
        (SHORT_QUESTIONS, SENTENCES, "A", LEVEL_A, "B", LEVEL_B, "", "", "", ""),
        "A errs in two answers and B in three, of eight: that says nothing about the next eight.",
    ),
    Example(
        "One system alone",
        (SHORT_QUESTIONS, SENTENCES, "own words", OWN_WORDS, "", "", "", "", "", ""),
        "Scores without a comparison; look at the answers on which the metrics disagree.",
    ),
]
