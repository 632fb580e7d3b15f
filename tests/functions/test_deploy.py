import os
import re
import shlex
import subprocess

import pytest
from tests.functions.site import ROOT, ROWS

SETTINGS = {
    "HABILIS_DEPLOY_PROJECT": "my-project",
    "HABILIS_DEPLOY_REGION": "europe-west1",
    "HABILIS_DEPLOY_IMAGE": "registry.example/my-project/habilis",
    "HABILIS_PUBLIC_URL": "https://habilis.example",
    "HABILIS_SCHEDULER_TOKEN": "scheduler-0123456789",
}


def deploy(*words, **settings):
    return subprocess.run(
        [ROOT / "infra" / "deploy.sh", *words],
        capture_output=True,
        text=True,
        check=False,
        env={**os.environ, **settings},
    )


def commands(**settings):
    done = deploy("--dry-run", **SETTINGS, **settings)
    assert (done.returncode, done.stderr) == (0, "")
    return [shlex.split(line) for line in done.stdout.splitlines()]


def option(command, name):
    return command[command.index(name) + 1]


def test_every_function_is_deployed_with_its_limits():
    found = {}
    for command in commands():
        if command[:3] == ["gcloud", "run", "deploy"]:
            settings = dict(pair.split("=", 1) for pair in option(command, "--set-env-vars")[3:].split("|"))
            found[settings["FUNCTION_TARGET"]] = (
                command[3], settings["FUNCTION_SOURCE"], option(command, "--timeout"), option(command, "--memory")
            )  # fmt: skip

    assert found == {
        row["name"]: (
            f"habilis-{row['name'].replace('_', '-')}",
            f"functions/{row['name']}.py",
            str(row["timeout_s"]),
            f"{row['memory_mb']}Mi",
        )
        for row in ROWS
    }


def test_every_schedule_becomes_a_job_that_calls_the_first_route():
    jobs = [command for command in commands() if command[:5] == ["gcloud", "scheduler", "jobs", "create", "http"]]

    assert [(option(job, "--schedule"), option(job, "--time-zone"), option(job, "--uri")) for job in jobs] == [
        (row["cron"], row["zone"], f"https://habilis.example{row['routes'][0]}") for row in ROWS if "cron" in row
    ]


def test_no_token_is_shown_or_stands_on_a_command_line():
    done = deploy("--dry-run", **SETTINGS)

    assert "scheduler-0123456789" not in done.stdout + done.stderr


def test_settings_and_a_share_reach_every_function():
    providers = '{"google": {"scopes": ["a", "b"]}}'

    deployed = [
        command
        for command in commands(HABILIS_PROVIDERS=providers, HABILIS_DEPLOY_VOLUME="10.0.0.2:/share")
        if "deploy" in command
    ]

    assert all(f"HABILIS_PROVIDERS={providers}" in option(command, "--set-env-vars") for command in deployed)
    assert {option(command, "--add-volume") for command in deployed} == {
        "name=private,type=nfs,location=10.0.0.2:/share"
    }
    assert {option(command, "--add-volume-mount") for command in deployed} == {
        "volume=private,mount-path=/srv/habilis/home"
    }


def test_the_secrets_of_providers_reach_the_broker_alone():
    secret = "GOOGLE_CLIENT_SECRET=google-client-secret:latest"

    holders = [
        command[3]
        for command in commands(HABILIS_DEPLOY_PROVIDER_SECRETS=secret)
        if "deploy" in command and secret in option(command, "--set-secrets")
    ]

    assert holders == ["habilis-broker"]


def test_what_is_missing_is_named_before_anything_is_done():
    done = deploy("--dry-run", **{**SETTINGS, "HABILIS_DEPLOY_REGION": ""})

    assert done.returncode != 0
    assert "HABILIS_DEPLOY_REGION" in done.stderr
    assert done.stdout == ""


def test_wrong_usage_is_told():
    done = deploy("--wrong")

    assert done.returncode == 2
    assert "--dry-run prints the commands" in done.stderr


@pytest.mark.parametrize("name", ["requirements.lock", "pyproject.toml", "README.md", "LICENSE", "shared", "functions"])
def test_the_image_is_made_of_files_that_exist_and_are_not_left_out(name):
    recipe = (ROOT / "infra" / "Dockerfile").read_text(encoding="utf-8")
    kept = (ROOT / "infra" / "Dockerfile.dockerignore").read_text(encoding="utf-8").splitlines()

    copied = " ".join(re.findall(r"^COPY (.*) \S+$", recipe, re.MULTILINE)).split()

    assert name in copied
    assert (ROOT / name).exists()
    assert f"!{name}" in kept


def test_the_image_installs_hashed_packages_and_runs_as_nobody_of_note():
    recipe = (ROOT / "infra" / "Dockerfile").read_text(encoding="utf-8")

    assert "pip install --require-hashes --requirement requirements.lock" in recipe
    assert recipe.index("USER habilis") < recipe.index("CMD")
