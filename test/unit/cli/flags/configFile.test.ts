/** --config: a file with flags. */
import assert from "node:assert/strict";
import {writeFileSync} from "node:fs";
import {join} from "node:path";
import {test} from "node:test";
import {SERVE_FLAGS} from "../../../../cli/flags/serveFlags.ts";
import {readServiceOptions} from "../../../../cli/flags/serveOptions.ts";
import {readFlags} from "../../../support/run/flagReading.ts";
import {makeTemporaryFolder} from "../../../support/temporaryFolder.ts";

const folder = makeTemporaryFolder();
const path = join(folder, "proofd.conf");

function read(lines: readonly string[], flags: readonly string[] = [], variables = {}) {
  writeFileSync(path, lines.join("\n"));
  return readFlags(SERVE_FLAGS, readServiceOptions, ["--config", path, ...flags], variables);
}

test("a file sets flags by their names, several lines make a list, and comments do not count", () => {
  const {port, db, cors, limits, estimate, isBalanced, verify} = read([
    "# the store",
    "db=d",
    "  max-queue  =  7",
    "",
    "cors = https://a.example",
    "cors = https://b.example",
    "estimate-workers = 0",
    "balanced = true\r",
    "check-store = false",
  ]);
  assert.deepEqual([port, db, limits.queueCost], [8545, "d", 7]);
  assert.deepEqual(cors, ["https://a.example", "https://b.example"]);
  assert.deepEqual([estimate.workers, isBalanced, verify], [0, true, false]);
});

test("a flag wins over a variable, and a variable over the file; lists do not mix", () => {
  const lines = ["port = 1", "max-queue = 1", "request-timeout = 1", "cors = https://a.example"];
  const variables = {PROOFD_PORT: "2", PROOFD_MAX_QUEUE: "3"};
  const {port, limits, cors} = read(lines, ["--port", "4", "--cors", "*"], variables);
  assert.deepEqual([port, limits.queueCost, limits.timeoutMs, cors], [4, 3, 1, ["*"]]);
  const off = {PROOFD_CHECK_STORE: "0", PROOFD_BALANCED: "false"};
  const {verify, isBalanced} = read(["check-store = true", "balanced = true"], [], off);
  assert.deepEqual([verify, isBalanced], [false, false]);
});

test("what is wrong with a file is said with its line", () => {
  for (const [line, message] of [
    ["max-queu = 1", /line 2: expected a flag of proofd serve, got max-queu/],
    ["config = x", /line 2: expected a flag of proofd serve, got config/],
    ["port", /line 2: expected name = value/],
    ["port = x", /line 2: port: Expected a whole number from 0 to 65535. Got 'x'/],
    ["balanced = yes", /line 2: balanced: Expected true or false. Got 'yes'/],
    ["db = e", /line 2: expected db once, got it again/],
    ["finalized = 5", /--finalized in the file of --config has no effect without --diffs, --l2, or --feed/],
  ] as const)
    assert.throws(() => read(["db = d", line]), message, line);
  assert.throws(
    () => readFlags(SERVE_FLAGS, readServiceOptions, ["--config", join(folder, "none")]),
    /--config: cannot read .*none/,
  );
});

test("headers with secrets come from a file", () => {
  const secret = join(folder, "header");
  writeFileSync(secret, "# of the node\nAuthorization: Bearer s\n\n");
  const {l2} = read(["l2 = http://127.0.0.1:1", `l2-header-file = ${secret}`], ["--l2-header", "x-a: 1"]);
  assert.deepEqual(l2?.nodes.headers, {"x-a": "1", authorization: "Bearer s"});
  assert.throws(
    () => read(["l2 = http://127.0.0.1:1", "l2-header-file = /none"]),
    /--l2-header-file in the file of --config: cannot read \/none/,
  );
});
