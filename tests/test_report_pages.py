"""The HTML pages of the verbs in Chromium: readable on a desktop and on a phone, by day and by night."""

import genqa_metrics
import pytest
from genqa_metrics.reports.report import Finding
from playwright.sync_api import expect

from tests.factories.explained import explainer, judged
from tests.factories.spaces import check_accessibility

ROWS = [
    {"id": f"q{number}", "question": f"How many moons has planet number {number}, by the count of the second survey?"}
    | {"references": [f"It has {number} moons.", str(number)], "system": system, "points": number * len(said) % 7}
    | {"prediction": said.format(number + (system == "echo" and number % 3 > 0))}
    | {"score": 1 + 4 * (system != "echo" or number % 3 == 0) - (system == "talker" and number % 2)}
    for number in range(12)
    for system, said in (("brief", "{}"), ("echo", "It has {} moons."), ("talker", "There are {} of them, it seems."))
]
PAGES = {
    "score": lambda: genqa_metrics.score(ROWS, ["aev", "kpqa"]).to_html(),
    "compare": lambda: genqa_metrics.compare(ROWS, ["aev"], score_columns=["points"], resamples=200).to_html(),
    "agree": lambda: genqa_metrics.agree(ROWS, metrics=["aev"], score_columns=["points"], resamples=200).to_html(),
    "explain": lambda: explainer().page([WEIGHED], conclusions=[Finding("Judged wrong.")]),
    "explain rows": lambda: explainer().page(
        [WEIGHED, judged(question="Who?")], conclusions=[Finding("Two.")], notes=["Errs."]
    ),
}
WEIGHED = judged(
    marks=[(0, 2, "weight1", "0.06"), (3, 7, "weight5", "0.91 BL")],
    reference_marks=[[(0, 4, "weight3", "0.50 BL")], [(0, 5, "weight0", "B")]],
    evidence=[("Contradicted", "It was built in 1887. (probability 0.04)"), ("  passage 1, nearest", "in 1889 " * 40)],
    passages=["In 1889 the bridge was built."],
)
WIDE = """() => [document.documentElement, ...document.querySelectorAll(".wide, figure")]
    .filter(one => one.scrollWidth > one.clientWidth + 1).map(one => one.outerHTML.slice(0, 300))"""
SMALL = """() => [...document.querySelectorAll("figure svg text")]
    .map(one => one.getBoundingClientRect().height).filter(height => height && height < 8)"""


def find_sort_and_open(page, phone):
    """The row viewer of the page does its work under the page's own policy; it has all rows."""
    expect(page.locator(".viewer .dt-info")).to_have_text("1 to 25 of 36 answers")
    page.get_by_label("Find").fill("number 7")
    shown = page.locator("tbody tr[id^=row-]")
    expect(shown).to_have_count(3)
    shown.first.get_by_role("button").click()
    expect(page.locator(".viewer .detail")).to_contain_text("It has 7 moons.")
    page.get_by_label("Find").fill("")
    if phone:
        page.get_by_text("Filters", exact=True).click()
    page.get_by_role("combobox", name="System").select_option("echo")
    expect(page.locator(".viewer .dt-info")).to_contain_text("of 12 answers")


@pytest.mark.parametrize(
    "verb", [pytest.param(verb, marks=[] if verb == "compare" else pytest.mark.slow) for verb in PAGES]
)
def test_pages_can_be_read_on_a_desktop_and_on_a_phone(verb, browser, tmp_path):
    """Nothing is cut or scrolls sideways, links lead somewhere, text in charts is large enough, axe is content."""
    path = tmp_path / "page.html"
    path.write_text(PAGES[verb](), encoding="utf-8")
    for width, scheme in ((1280, "light"), (390, "dark")):
        page, problems = browser.new_page(viewport={"width": width, "height": 844}, color_scheme=scheme), []
        page.on("console", lambda message, said=problems: said.append(message.text))
        page.on("pageerror", lambda error, said=problems: said.append(str(error)))
        page.goto(path.as_uri())
        assert page.locator(".finding").count() > 0
        assert page.evaluate(WIDE) == []
        assert page.evaluate(SMALL) == []
        for link in page.locator("nav.contents a").all():
            assert page.locator(link.get_attribute("href")).count() == 1
        meanings = page.locator("details:has(dl.columns)")
        assert (meanings.count() > 0) == (not verb.startswith("explain"))
        if not verb.startswith("explain"):
            meanings.first.locator("summary").click()
            assert page.locator("dl.columns dd").first.is_visible()
        check_accessibility(page)
        if verb == "compare":
            further = page.locator("td.extra").first
            expect(further).to_be_hidden()
            page.get_by_label("more columns").first.check()
            expect(further).to_be_visible()
            assert page.evaluate(WIDE) == []
        if verb in ("score", "compare"):
            find_sort_and_open(page, width < 640)
        assert problems == []
        page.close()
