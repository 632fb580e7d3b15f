"""What property tests of templates are made of."""

from hypothesis import strategies as st

texts = st.text(st.characters(exclude_categories=["Cs"]), max_size=12)
odd_texts = st.text(max_size=12) | st.sampled_from(
    ["{{a}}", "${A}", "..", ".", "\r\n", "a/b", "\ud800", "%2e%2e", "\0"]
)
numbers = st.integers() | st.floats()
names = st.sampled_from(["a", "b", "item", "*", "0", "1", "-", "a/b", "~", "", "01"])
json_values = st.recursive(
    st.none() | st.booleans() | numbers | odd_texts,
    lambda inner: st.lists(inner, max_size=3) | st.dictionaries(names, inner, max_size=3),
    max_leaves=8,
)
placeholders = st.sampled_from([
    "{{a}}", "{{b}}", "{{ a }}", "{{a|d}}", "{{a|1}}", "{{a.0.b}}", "{{a.*.b}}", "{{item.b}}", "{{a|}}", "{{a.b|null}}",
    "${A}", "${B|x}", "${A|urlencode}", "${B|urlencode|y z}", "{{first(a)}}", "{{last(a).b|x}}", "{{count(b)}}",
    "{{join(a, '{{b}}')}}", "{{json(a)}}", "{{cut(a, 2)}}", "{{replace(a, 'a', '${A}')}}", "{{lower(item.b)}}",
])  # fmt: skip
template_texts = st.lists(placeholders | texts | st.sampled_from(["/", "?", "{{", "}}", "${", "https://h"])).map(
    "".join
)
templates = st.recursive(
    st.none() | st.booleans() | st.integers() | template_texts,
    lambda inner: (
        st.lists(inner, max_size=3)
        | st.dictionaries(texts, inner, max_size=3)
        | st.fixed_dictionaries({"$each": st.sampled_from(["a", "{{b}}", "split(a, 'a')"]), "$do": inner})
        | st.fixed_dictionaries({"$if": st.sampled_from(["a", "{{b}}", {"not": "{{item.b}}"}]), "x": inner})
    ),
    max_leaves=8,
)
arguments = st.dictionaries(st.sampled_from(["a", "b", "item"]), json_values, max_size=3)
keys = st.dictionaries(st.sampled_from(["A", "B"]), odd_texts, max_size=2)
