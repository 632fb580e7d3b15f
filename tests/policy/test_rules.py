import pytest
from hypothesis import given
from hypothesis import strategies as st

from habilis.errors import ManifestInvalid
from habilis.policy.rules import NO_RULES, Rule, Rules, decide, load_rules, read_rules

FILE = "projects/demo/actauth.yml"


def rule(tool, decision, **more):
    return Rule(name=f"{tool}-{decision}", tool=tool, decision=decision, **more)


def verdict(role, tool, *rules, default="allow"):
    return decide(role, tool, Rules(rules=rules, default=default)).verdict


def problems(text):
    with pytest.raises(ManifestInvalid) as caught:
        load_rules(text, FILE)
    return [str(problem).removeprefix(FILE) for problem in caught.value.problems]


@pytest.mark.parametrize(
    ("role", "expected"), [("read", "allow"), ("reply", "allow"), ("manage", "allow"), ("publish", "ask")]
)
def test_without_rules_only_a_publish_asks(role, expected):
    assert decide(role, "any_tool", NO_RULES).verdict == expected


@pytest.mark.parametrize(("decision", "expected"), [("allow", "ask"), ("ask", "ask"), ("deny", "deny")])
def test_a_rule_can_make_a_publish_stricter_and_never_looser(decision, expected):
    assert verdict("publish", "post", rule("post", decision)) == expected
    assert verdict("publish", "post", default=decision) == expected


def test_the_strictest_rule_that_fits_counts_whatever_the_order():
    rules = [rule("reply*", "allow"), rule("*", "ask"), rule("reply_all", "deny")]

    assert verdict("reply", "reply_all", *rules) == "deny"
    assert verdict("reply", "reply_all", *reversed(rules)) == "deny"
    assert verdict("reply", "reply_one", *rules) == "ask"


@pytest.mark.parametrize(
    ("pattern", "tool", "fits"),
    [
        ("reply", "reply", True),
        ("reply", "reply_all", False),
        ("reply_*", "reply_all", True),
        ("*", "x", True),
        ("repl?", "reply", True),
        ("Reply", "reply", False),
        ("shop__*", "shop__web_search", True),
        ("[", "reply", False),
    ],
)
def test_a_tool_may_be_a_glob(pattern, tool, fits):
    assert rule(pattern, "deny").fits(tool) is fits


def test_the_default_counts_where_no_rule_fits():
    assert verdict("read", "search", rule("reply", "allow"), default="deny") == "deny"
    assert verdict("read", "search", rule("search", "allow"), default="deny") == "allow"


def test_a_narrow_rule_is_weighed_only_where_it_is_strict():
    assert verdict("reply", "reply", rule("reply", "allow", is_narrow=True), default="ask") == "ask"
    assert verdict("reply", "reply", rule("reply", "deny", is_narrow=True)) == "deny"


def test_the_reason_names_the_rule():
    reason = decide("reply", "reply", Rules(rules=(Rule(name="no-replies", tool="reply", decision="deny"),))).reason

    assert reason == "the rule 'no-replies' says deny"


def test_a_file_may_be_a_bare_list():
    text = b"""
# orders may be looked up
- name: orders-allowed
  scope: "*/*"
  tool: get_order
  decision: allow
- name: refunds-ask
  tool: refund
  decision: ask
"""

    assert load_rules(text, FILE) == Rules(
        rules=(
            Rule(name="orders-allowed", tool="get_order", decision="allow"),
            Rule(name="refunds-ask", tool="refund", decision="ask"),
        )
    )


def test_a_file_may_have_a_default_and_rules():
    text = b"default_decision: deny\nrules:\n  - { name: a, scope: '*', tool: 'x_*', decision: allow }\n"

    assert load_rules(text, FILE) == Rules(rules=(Rule(name="a", tool="x_*", decision="allow"),), default="deny")


@pytest.mark.parametrize("text", [b"", b"# nothing yet\n", b"rules:\n", b"[]", b"rules: []\n", b"\xef\xbb\xbf\r\n"])
def test_a_file_that_says_nothing_has_no_rules(text):
    assert load_rules(text, FILE) == NO_RULES


def test_a_rule_without_a_name_is_named_by_its_place():
    assert load_rules(b"- { tool: a, decision: ask }\n- { tool: b, decision: ask }", FILE).rules[1].name == "rule 2"


@pytest.mark.parametrize(
    ("narrowing", "is_narrow"),
    [
        ("scope: '*'", False),
        ("scope: '*/*'", False),
        ("scope: '*/staging'", True),
        ("scope: acme/production", True),
        ("scope: ''", True),
        ("when: { field: intent, op: eq, value: tracking_info }", True),
        ("when: {}", True),
        ("when:", False),
        ("description: why", False),
    ],
)
def test_a_scope_or_a_condition_makes_a_rule_narrow(narrowing, is_narrow):
    (found,) = load_rules(f"- tool: a\n  decision: allow\n  {narrowing}\n".encode(), FILE).rules

    assert found.is_narrow is is_narrow


def test_every_fault_of_a_file_is_told_with_its_place():
    text = b"""default_decison: deny
default_decision: maybe
rules:
  - { name: 1, tool: a, decision: ask }
  - { name: b, tool: "", decision: no }
  - { name: c, tol: a, decision: Allow }
  - just text
"""

    assert problems(text) == [
        ":1:18 default_decison: unknown field; did you mean 'default_decision'?",
        ":2:19 default_decision: expected allow, ask or deny",
        ":4:13 rules[0].name: expected text; quote it",
        ":5:22 rules[1].tool: expected a tool's name; * stands for anything",
        ":5:36 rules[1].decision: expected allow, ask or deny",
        ":6:5 rules[2].tool: expected a tool's name; * stands for anything",
        ":6:21 rules[2].tol: unknown field; did you mean 'tool'?",
        ":6:34 rules[2].decision: expected allow, ask or deny",
        ":7:5 rules[3]: expected a rule: tool and decision, and a name",
    ]


def test_faults_of_a_bare_list_are_placed_too():
    assert problems(b"- tool: a\n- tool: b\n  decision: allow\n") == [
        ":1:3 rules[0].decision: expected allow, ask or deny"
    ]


@pytest.mark.parametrize("text", [b"just text", b"rules: 5", b"rules: { a: b }", b"- *x", b"!tag []", b"a: [", b"\xff"])
def test_what_are_no_rules_is_refused(text):
    assert problems(text)


def test_data_that_is_parsed_already_is_read_the_same_way():
    plain = [{"tool": "a", "decision": "deny"}]

    assert read_rules(plain, FILE) == load_rules(b"- { tool: a, decision: deny }", FILE)
    assert read_rules({"rules": plain, "default_decision": "ask"}, FILE).default == "ask"
    with pytest.raises(ManifestInvalid):
        read_rules("text", FILE)


STRICTNESS = ["allow", "ask", "deny"]
decisions = st.sampled_from(STRICTNESS)
tools = st.sampled_from(["reply", "search", "post"])
rules_of = st.lists(
    st.builds(
        Rule, name=st.just("r"), tool=tools | st.sampled_from(["*", "re*"]), decision=decisions, is_narrow=st.booleans()
    )
)


@given(
    st.sampled_from(["read", "reply", "manage", "publish"]),
    tools,
    rules_of,
    decisions,
    st.integers(0, 5),
    st.booleans(),
)
def test_adding_a_deny_never_allows_more(role, tool, rules, default, place, is_narrow):
    before = verdict(role, tool, *rules, default=default)

    for pattern in (tool, "*", "other"):
        added = [*rules[:place], rule(pattern, "deny", is_narrow=is_narrow), *rules[place:]]
        after = verdict(role, tool, *added, default=default)

        assert STRICTNESS.index(after) >= STRICTNESS.index(before)


@given(tools, rules_of, decisions)
def test_no_rules_whatsoever_let_a_publish_through_unasked(tool, rules, default):
    assert verdict("publish", tool, *rules, default=default) != "allow"
