import pytest
from tests.manifest.samples import PRESS, changed, fault, faults, loaded, place

UPLOAD = """\
  - name: upload_article
    role: manage
    input:
      type: object
      properties:
        text: { type: string }
        tags: { type: array, items: { type: string } }
    steps:
      - name: register
        for_each: files
        request:
          method: POST
          url: https://api.example.com/uploads
          json: { size: "{{file.size}}", position: "{{index}}" }
        save: { upload: /uploadUrl, id: /id }
      - name: put
        for_each: register
        request: { method: PUT, url: "https://api.example.com/{{item.id}}", body_file: "{{file}}" }
        save: { etag: "header:ETag", code: status }
      - name: term
        for_each: "{{tags}}"
        when: "{{text}}"
        request: { method: POST, url: https://api.example.com/terms, json: { name: "{{item}}" } }
        save: { id: /id }
        on_error: skip
        save_error: problem
      - name: post
        request:
          method: POST
          url: https://api.example.com/posts
          json: { text: "{{text}}", media: "{{register.*.id}}", first: "{{register.0.id}}", etags: "{{put.*.etag}}" }
        save: { url: /url }
    limits: { runs: 50 }
    cost: free
    result: { text: "{{post.url}}" }
"""
WITH_STEPS = PRESS.replace("channels:\n", UPLOAD + "channels:\n")


def with_steps(old: str, new: str) -> str:
    return changed(old, new, WITH_STEPS)


def test_a_call_of_several_steps_is_read_whole():
    tool = loaded(WITH_STEPS).tools[2]

    register, put, term, post = tool.steps
    assert [step.name for step in tool.steps] == ["register", "put", "term", "post"]
    assert [step.loop and (step.loop.over, step.loop.each and step.loop.each.source) for step in tool.steps] == [
        ("files", None),
        ("register", None),
        ("", "{{tags}}"),
        None,
    ]
    assert [(name, saved.source) for name, saved in put.save] == [("etag", "header:ETag"), ("code", "status")]
    assert term.when is not None
    assert (term.when.source, term.skips_errors, term.save_error) == ("{{text}}", True, "problem")
    assert (register.skips_errors, register.save_error, post.when) == (False, "", None)
    assert put.request.body_file is not None
    assert (tool.most_runs, tool.cost) == (50, "free")
    assert (tool.result.text, tool.result.said and tool.result.said.source) == (None, "{{post.url}}")


def test_a_call_of_one_request_is_one_step_without_a_name():
    tool = loaded(PRESS).tools[0]

    assert [(step.name, step.loop, step.save) for step in tool.steps] == [("", None, ())]
    assert (tool.result.text, tool.result.said, tool.most_runs) == ("/link", None, 20)


def test_what_a_loop_runs_over_may_be_written_without_braces():
    each = loaded(with_steps('for_each: "{{tags}}"', "for_each: tags")).tools[2].steps[2].loop

    assert each is not None
    assert each.each is not None
    assert (each.over, each.each.source) == ("", "{{tags}}")


def steps_of(count: int) -> str:
    request = "request: { method: POST, url: https://api.example.com/x }"
    listed = "".join(f"      - {{ name: s{number}, {request} }}\n" for number in range(count))
    return PRESS.replace("channels:\n", f"  - name: many\n    role: manage\n    steps:\n{listed}channels:\n")


def test_a_call_has_at_most_ten_steps():
    assert len(loaded(steps_of(10)).tools[2].steps) == 10
    assert fault(steps_of(11)) == "35:7 tools[2].steps: found 11; expected at most 10"
    assert fault(steps_of(0).replace("steps:\n", "steps: []\n")).endswith("steps: found none; expected at least 1")


def test_a_step_named_twice_is_a_fault():
    found = faults(with_steps("- name: put\n", "- name: register\n"))

    line = place(WITH_STEPS, "register\n        for_each: files").partition(":")[0]
    assert any(one.endswith(f"named twice: the first step of this name is in line {line}") for one in found)


@pytest.mark.parametrize(
    ("old", "new", "expected"),
    [
        ('size: "{{file.size}}"', 'size: "{{post.url}}"', "nothing fills {{post}} here: step 'post' comes later"),
        ('size: "{{file.size}}"', 'size: "{{register.0.id}}"', "a step does not know its own answer"),
        ("for_each: register\n", "for_each: post\n", "nothing fills {{post}} here: step 'post' comes later"),
        ("for_each: register\n", "for_each: put\n", "nothing fills {{put}} here: a step does not know its own answer"),
        ("for_each: register\n", "for_each: registr\n", "nothing fills {{registr}}; did you mean 'register'?"),
        ('for_each: "{{tags}}"', 'for_each: "{{tagz}}"', "nothing fills {{tagz}}; did you mean 'tags'?"),
        ('when: "{{text}}"', 'when: "{{post.url}}"', "step 'post' comes later"),
        ('name: "{{item}}"', 'name: "{{file.name}}"', "nothing fills {{file}} here: {{file}} is one of `for_each:"),
        ('{ text: "{{text}}", media', '{ text: "{{item}}", media', "nothing fills {{item}} here: it is one of a"),
        ('{ text: "{{text}}", media', '{ text: "{{index}}", media', "nothing fills {{index}} here"),
        ('"{{register.*.id}}"', '"{{register.*.idd}}"', "register has no idd; did you mean 'id'?"),
        ('"{{register.*.id}}"', '"{{register.id}}"', "is a list; write {{register.0.id}} or {{register.*.id}}"),
        ("{{item.id}}", "{{item.code}}", "item has no code; it has id, upload"),
        ('"{{file.size}}"', '"{{file.bytes}}"', "file has no bytes; it has alt, base64, height, mime, name"),
        ('"{{register.0.id}}"', '"{{files.0.nme}}"', "files has no nme; did you mean 'name'?"),
        ('"{{index}}"', '"{{index.x}}"', "index holds nothing that a name leads into"),
        ('text: "{{post.url}}"', 'text: "{{post.link}}"', "post has no link; it has url"),
        ('text: "{{post.url}}"', 'text: "{{item.id}}"', "nothing fills {{item}} here"),
        ("save: { url: /url }", "save: { url: url }", "a place is a pointer such as /data/id, header:NAME or status"),
        ("save: { url: /url }", 'save: { url: "{{x}}" }', "expected a place in the answer"),
        ("save: { url: /url }", "save: { Url: /url }", "expected a-z, 0-9 and underscores"),
        ("- name: post\n", "- name: Post\n", "expected a-z, 0-9 and underscores"),
        ("- name: post\n", "- name: files\n", "Habilis fills {{files}} itself; choose another name"),
        ("- name: post\n", "- name: tags\n", "an argument is called that too; choose another name"),
        ("        on_error: skip\n", "", "the call ends when the step fails; say `on_error: skip` to go on"),
        ("on_error: skip", "on_error: continue", "expected stop or skip"),
        ("save_error: problem", "save_error: put", "a step is called that; choose another name"),
        ("save_error: problem", "save_error: tags", "an argument is called that too; choose another name"),
        ("limits: { runs: 50 }", "limits: { runs: 0 }", "limits.runs: expected 1 or more"),
        ("limits: { runs: 50 }", "limits: { runs: 201 }", "limits.runs: expected 200 or less"),
        ("limits: { runs: 50 }", "limits: { run: 50 }", "unknown field; did you mean 'runs'?"),
        ("        on_error: skip\n", "        timeout_s: 5\n        on_error: skip\n", "it belongs in `request`"),
        ("    cost: free\n", "    request: { method: GET, url: https://api.example.com/ }\n", "write one of the two"),
    ],
)  # fmt: skip
def test_a_step_that_cannot_work_is_a_fault_at_install(old, new, expected):
    assert any(expected in one for one in faults(with_steps(old, new))), faults(with_steps(old, new))


def test_the_fault_of_a_step_is_placed_at_its_text():
    text = with_steps('size: "{{file.size}}"', 'size: "{{later.x}}"').replace("- name: post\n", "- name: later\n")

    assert faults(text)[0].startswith(place(text, '"{{later.x}}"'))


def test_a_step_after_one_that_ran_once_takes_no_list_of_it():
    again = (
        "      - name: again\n        for_each: post\n        request: { method: GET, url: https://api.example.com/ }\n"
    )

    found = fault(with_steps("    limits:", f"{again}    limits:"))

    assert found.endswith("step 'post' runs once; name the list that it saves, as {{post.ids}}")


def test_an_address_may_come_from_an_earlier_answer_and_never_from_the_caller():
    given = with_steps('"https://api.example.com/{{item.id}}"', '"{{item.upload}}"')

    loaded(given)
    loaded(with_steps("url: https://api.example.com/posts", 'url: "{{register.0.upload}}"'))
    for url in ('"{{text}}"', '"{{item}}"'):
        found = fault(with_steps("url: https://api.example.com/terms", f"url: {url}"))
        assert "arguments may not be part of the host" in found
    assert "arguments may not be part of the host" in fault(given.replace("for_each: register", "for_each: files"))


def test_a_step_that_saves_its_whole_answer_may_be_looked_into_anywhere():
    text = with_steps("        save: { url: /url }\n", "")

    assert loaded(text).tools[2].steps[3].save == ()


def test_an_argument_may_be_called_item_outside_of_steps():
    text = changed("        status: { type: string }\n", "        item: { type: string }\n")

    loaded(text.replace("{{status|draft}}", "{{item}}"))


@pytest.mark.parametrize("name", ["connection", "files"])
def test_an_argument_that_habilis_fills_is_not_a_tools_own(name):
    text = changed("        status: { type: string }\n", f"        {name}: {{ type: string }}\n")

    assert "choose another name" in fault(text.replace("{{status|draft}}", "x"))
