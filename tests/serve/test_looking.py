"""The pages for people, in a real browser."""

import re
import shutil

import pytest
from firstpage.core.formats import FORMS

selenium = pytest.importorskip("selenium")
from selenium import webdriver  # noqa: E402
from selenium.webdriver.common.by import By  # noqa: E402
from selenium.webdriver.common.keys import Keys  # noqa: E402
from selenium.webdriver.support.ui import WebDriverWait  # noqa: E402

PAGES = ["/", "/page.css", "/page.js", "/docs"]


@pytest.fixture(scope="module")
def browser():
    driver = shutil.which("chromedriver")
    if driver is None:
        pytest.skip("needs Debian's chromium-driver")
    options = webdriver.ChromeOptions()
    for argument in ("--headless=new", "--no-sandbox", "--disable-gpu", "--disable-dev-shm-usage"):
        options.add_argument(argument)
    options.set_capability("goog:loggingPrefs", {"browser": "ALL"})
    made = webdriver.Chrome(options=options, service=webdriver.ChromeService(driver))
    yield made
    made.quit()


def by(browser, id):
    return browser.find_element(By.ID, id)


def wait(browser, condition):
    return WebDriverWait(browser, 20).until(lambda _: condition())


def fill(browser, **values):
    for id, value in values.items():
        by(browser, id).clear()
        by(browser, id).send_keys(value)


@pytest.mark.parametrize("path", PAGES)
def test_nothing_from_outside_may_be_loaded(server, path):
    answer = server.get(path)
    assert answer.status_code == 200
    assert answer.headers["Content-Security-Policy"].startswith("default-src 'none'; script-src 'self'")
    assert answer.headers["X-Content-Type-Options"] == "nosniff"
    assert not re.search(r"(?:src|href)=.?(?:https?:)?//|url\(|@import", answer.text)


def test_the_example_is_brought_to_a_page_with_its_values(server, browser):
    browser.get(server.url)
    by(browser, "form").find_element(By.TAG_NAME, "button").click()
    wait(browser, lambda: by(browser, "after").text)
    assert by(browser, "after").text.startswith("app/cache.py:12:def invalidate_rows(table):")
    assert by(browser, "before").text.startswith("docs/history.md:3:")
    rows = by(browser, "shown").find_elements(By.CSS_SELECTOR, "tbody tr")
    values = [float(row.find_element(By.CSS_SELECTOR, ".number").text) for row in rows]
    assert values == sorted(values, reverse=True)
    assert len(values) > 5
    assert browser.get_log("browser") == []


def test_what_is_left_out_is_shown_page_by_page(server, browser):
    browser.get(server.url)
    by(browser, "form").find_element(By.TAG_NAME, "button").click()
    wait(browser, lambda: by(browser, "more").is_displayed())
    total = int(re.search(r"of (\d+) items", by(browser, "summary").text)[1])
    shown = len(by(browser, "shown").find_elements(By.CSS_SELECTOR, "tbody tr"))

    def left():
        return len(by(browser, "left-out").find_elements(By.CSS_SELECTOR, "tbody tr"))

    while by(browser, "more").is_displayed():
        before = left()
        by(browser, "more").click()
        wait(browser, lambda before=before: left() > before)
    assert shown + left() == total


def test_with_the_keyboard_alone(server, browser):
    browser.get(server.url)
    fill(browser, query="colour", answer="a.py\ncolour.py\nb.py\n", budget="40")
    by(browser, "budget").send_keys(Keys.ENTER)
    wait(browser, lambda: "colour.py" in by(browser, "after").text)
    assert browser.switch_to.active_element.get_attribute("id") == "results-heading"
    assert "Nothing: all items are on the page." in by(browser, "left").text
    assert not by(browser, "more").is_displayed()


def test_what_cannot_be_done_is_said(server, browser):
    browser.get(server.url)
    fill(browser, **{"value-function": "bm26"})
    by(browser, "form").find_element(By.TAG_NAME, "button").click()
    wait(browser, lambda: "did you mean 'bm25'" in by(browser, "message").text)
    assert by(browser, "message").get_attribute("role") == "status"
    assert not by(browser, "results").is_displayed()


def test_text_stays_text(server, browser):
    browser.get(server.url)
    fill(browser, query="x", answer="<script>alert(1)</script>\n<img src=x onerror=alert(2)>\n", budget="500")
    by(browser, "form").find_element(By.TAG_NAME, "button").click()
    wait(browser, lambda: "<img" in by(browser, "after").text)
    assert browser.find_elements(By.CSS_SELECTOR, "#results img, #results script") == []


def test_a_narrow_window_needs_no_scrolling_to_the_side(server, browser):
    metrics = {"width": 360, "height": 800, "deviceScaleFactor": 1, "mobile": False}
    browser.execute_cdp_cmd("Emulation.setDeviceMetricsOverride", metrics)
    for path in ("/", "/docs"):
        browser.get(server.url + path)
        if path == "/":
            by(browser, "form").find_element(By.TAG_NAME, "button").click()
            wait(browser, lambda: by(browser, "after").text)
        assert browser.execute_script("return document.documentElement.scrollWidth <= window.innerWidth")
    browser.execute_cdp_cmd("Emulation.clearDeviceMetricsOverride", {})


def test_a_key_is_asked_for_where_one_is_needed(start, browser, tmp_path):
    (tmp_path / "keys").write_text("open sesame\n")
    server = start(keys_file=str(tmp_path / "keys"), ranker="bm25", value_function="bm25")
    browser.get(server.url)
    button = by(browser, "form").find_element(By.TAG_NAME, "button")
    assert not by(browser, "key").is_displayed()
    button.click()
    wait(browser, lambda: by(browser, "key").is_displayed())
    fill(browser, key="open sesame")
    button.click()
    wait(browser, lambda: by(browser, "after").text)


def test_every_field_of_the_page_has_a_label(server, browser):
    browser.get(server.url)
    for field in browser.find_elements(By.CSS_SELECTOR, "input, textarea, select"):
        assert browser.find_elements(By.CSS_SELECTOR, f"label[for='{field.get_attribute('id')}']")
    forms = {option.text for option in by(browser, "answer-form").find_elements(By.TAG_NAME, "option")}
    assert forms == {"auto", *FORMS}


def test_the_reference_names_every_path_and_form(server):
    text = server.get("/docs").text
    for path in ("/rerank", "/v1/rerank", "/v1/embeddings", "/embed", "/select", "/health", "/metrics"):
        assert f"{path}</code>" in text
    for name in ("TeiRerank", "DocumentsRerank", "truncation_direction", "rank_fields"):
        assert name in text
