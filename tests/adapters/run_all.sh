#!/usr/bin/env bash
# Runs the tests of every adapter, and the examples of its page, with its framework in an environment of its own; writes
# what was seen into docs/reference/adapters.md and docs/how-to/other-frameworks.md. With `run_all.sh FOLDER` the
# environments stay in FOLDER.
set -euo pipefail
cd "$(dirname "$0")/../.."

folder=${1:-}
if [ -z "$folder" ]; then
  folder=$(mktemp -d)
  trap 'rm -rf "$folder"' EXIT
fi

mkdir -p "$folder"
rows=$folder/rows.txt
: >"$rows"
for adapter in plain anthropic claude-agent-sdk fastmcp langchain openai-agents pydantic-ai; do
  printf '\n== %s\n' "$adapter"
  environment=$folder/$adapter
  needs=(pytest pytest-xdist hypothesis)
  [ "$adapter" != langchain ] || needs+=(langgraph-checkpoint-sqlite)
  extras=completion,yaml
  [ "$adapter" = plain ] || extras=$extras,$adapter
  [ -x "$environment/bin/python" ] || "${PYTHON:-python3}" -m venv "$environment"
  "$environment/bin/pip" install --quiet --disable-pip-version-check -e ".[$extras]" "${needs[@]}"
  "$environment/bin/python" -m pytest --numprocesses=0 -q -p no:cacheprovider "tests/adapters/test_${adapter//-/_}.py"
  page=docs/how-to/$adapter.md
  [ ! -f "$page" ] || "$environment/bin/python" -m pytest --numprocesses=0 -q -p no:cacheprovider tests/docs -k "runs and ${adapter//-/_} or $page"
  "$environment/bin/python" -m tests.adapters.matrix adapter "$adapter" >>"$rows"
done

# The recipes of docs/how-to/other-frameworks.md: a test takes them from the page.
for name in google-adk strands-agents crewai smolagents llama-index-core inspect-ai agent-framework-core haystack-ai agno \
  autogen-agentchat mcp; do
  printf '\n== the recipe for %s\n' "$name"
  environment=$folder/$name
  [ -x "$environment/bin/python" ] || "${PYTHON:-python3}" -m venv "$environment"
  "$environment/bin/pip" install --quiet --disable-pip-version-check -e '.[completion,yaml]' "$name" pytest pytest-xdist hypothesis
  "$environment/bin/python" -m pytest --numprocesses=0 -q -p no:cacheprovider "tests/adapters/recipes/test_${name//-/_}.py"
  "$environment/bin/python" -m tests.adapters.matrix recipe "$name" >>"$rows"
done

"$folder/plain/bin/python" -m tests.adapters.matrix write <"$rows"
printf '\n'
cat "$rows"
