import assert from "node:assert/strict";
import {test} from "node:test";
import {Command, Option} from "commander";
import {writeCommandLine} from "../../../../cli/flags/commandLine.ts";

test("words with spaces, quotes and dollars are written as a shell reads them back", () => {
  const command = new Command("bench");
  assert.equal(
    writeCommandLine(command, ["bench", "--url", "http://a/?k=1&b=$x", "--html", "it's.html", ""]),
    "proofd bench --url 'http://a/?k=1&b=$x' --html 'it'\\''s.html' ''",
  );
});

test("variables that set a flag stand before the command, others do not", () => {
  const name = "PROOFD_COMMAND_LINE_TEST";
  const command = new Command("bench")
    .addOption(new Option("--one <text>").env(name))
    .addOption(new Option("--two <text>").env("HOME"));
  process.env[name] = "a b";
  try {
    command.parse(["--two", "x"], {from: "user"});
    assert.equal(writeCommandLine(command, ["bench", "--two", "x"]), `${name}='a b' proofd bench --two x`);
  } finally {
    delete process.env[name];
  }
});
