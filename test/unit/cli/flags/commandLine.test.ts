import assert from "node:assert/strict";
import {test} from "node:test";
import {writeCommandLine} from "../../../../cli/flags/commandLine.ts";
import {createCommand} from "../../../../cli/flags/flagTable.ts";
import {LOAD_FLAGS} from "../../../../cli/flags/loadFlags.ts";
import {PULL_FLAGS} from "../../../../cli/flags/pullFlags.ts";

test("words with spaces, quotes and dollars are written as a shell reads them back", () => {
  const command = createCommand("load", "", LOAD_FLAGS, () => {});
  assert.equal(
    writeCommandLine(command, LOAD_FLAGS, ["load", "--keys", "a b?k=1&b=$x", "--html", "it's.html", ""]),
    "proofd load --keys 'a b?k=1&b=$x' --html 'it'\\''s.html' ''",
  );
});

test("variables that set a flag stand before the command, others do not", async () => {
  const name = "PROOFD_LOAD_KEYS";
  process.env[name] = "a b";
  try {
    const command = createCommand("load", "", LOAD_FLAGS, () => {}, "PROOFD_LOAD");
    const args = ["--url", "http://a", "--html", "x"];
    await command.parseAsync(args, {from: "user"});
    assert.equal(
      writeCommandLine(command, LOAD_FLAGS, ["load", ...args]),
      `${name}='a b' proofd load --url http://a --html x`,
    );
  } finally {
    delete process.env[name];
  }
});

test("no key of a URL or a header is written, however the flag is given", async () => {
  const spellings: readonly (readonly string[])[] = [
    ["--url", "https://me:k1@a.example:1/v2/k2?apikey=k3", "--header", "x-api-key: k4"],
    ["--url=https://a.example:1/k1", "--header=k2: k3", "--header", "--root=k4"],
    ["--l1", "https://b.example/k1, https://k2@c.example?k3", "--l1-header", "--l1=k4"],
    ["--l1=k1,,https://b.example#k2", "--l1-header=k3=k4=k5"],
  ];
  for (const args of spellings) {
    const command = createCommand("pull", "", PULL_FLAGS, () => {});
    const written = writeCommandLine(command, PULL_FLAGS, ["pull", "--all", ...args, "--out", "x"]);
    assert.doesNotMatch(written, /k\d/);
    assert.match(written, /^proofd pull --all .*\*\*\*.* --out x$/);
  }
  const variables = {PROOFD_L1: "https://b.example/k1", PROOFD_L1_HEADER: "k2: k3"};
  Object.assign(process.env, variables);
  try {
    const command = createCommand("pull", "", PULL_FLAGS, () => {});
    await command.parseAsync([], {from: "user"});
    assert.equal(
      writeCommandLine(command, PULL_FLAGS, ["pull"]),
      "PROOFD_L1=https://b.example/*** PROOFD_L1_HEADER=*** proofd pull",
    );
  } finally {
    for (const name of Object.keys(variables)) delete process.env[name];
  }
});
