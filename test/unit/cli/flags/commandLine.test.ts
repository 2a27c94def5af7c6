import assert from "node:assert/strict";
import {test} from "node:test";
import {Command, Option} from "commander";
import {writeCommandLine} from "../../../../cli/flags/commandLine.ts";

test("words with spaces, quotes and dollars are written as a shell reads them back", () => {
  const command = new Command("load");
  assert.equal(
    writeCommandLine(command, ["load", "--url", "http://a/?k=1&b=$x", "--html", "it's.html", ""]),
    "proofd load --url 'http://a/?k=1&b=$x' --html 'it'\\''s.html' ''",
  );
});

test("variables that set a flag stand before the command, others do not", () => {
  const name = "PROOFD_COMMAND_LINE_TEST";
  const command = new Command("load")
    .addOption(new Option("--one <text>").env(name))
    .addOption(new Option("--two <text>").env("HOME"));
  process.env[name] = "a b";
  try {
    command.parse(["--two", "x"], {from: "user"});
    assert.equal(writeCommandLine(command, ["load", "--two", "x"]), `${name}='a b' proofd load --two x`);
  } finally {
    delete process.env[name];
  }
});
