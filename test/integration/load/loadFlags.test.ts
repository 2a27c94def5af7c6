/** The flags of `proofd load`: what is refused and how it is named, and variables in their place. */
import assert from "node:assert/strict";
import {writeFile} from "node:fs/promises";
import {after, before, test} from "node:test";
import type {LoadReport} from "../../../load/report/loadReport.ts";
import type {WorkFolder} from "../../support/chains/serviceChain.ts";
import {ForeignServer, sendResults} from "../../support/http/foreignServer.ts";
import {startLoadTarget} from "../../support/http/loadRun.ts";
import type {OwnService} from "../../support/http/ownService.ts";
import {runCommandLines, runProofd} from "../../support/processes/daemon.ts";

let folder: WorkFolder;
let service: OwnService;
let keys: string;

before(async () => {
  ({folder, service, keys} = await startLoadTarget());
});

after(async () => {
  await service.stop();
  await folder.remove();
});

test("what cannot be done is named: exit code 2 for flags, 1 for a server that is not there", async () => {
  const url = ["--url", service.url];
  const empty = folder.file("empty.txt");
  await writeFile(empty, "# nobody\n");
  const table: [readonly string[], number, RegExp][] = [
    [[], 2, /required option '--url <url>' not specified/],
    [["--url", "ftp://secret"], 2, /^error: --url: expected a URL with http:\/\/ or https:\/\/ and a host/],
    [["--url", "http://me:secret@a"], 2, /^error: --url: expected a URL without user, password and #/],
    [[...url, "--style", "solana"], 2, /Allowed choices are chain, eth/],
    [[...url, "--connections", "10001"], 2, /Expected a whole number from 1 to 10000/],
    [
      [...url, "--connections", "2", "--threads", "3"],
      2,
      /--threads: expected at most --connections \(2\), got 3/,
    ],
    [[...url, "--batch", "0"], 2, /'--batch <calls>' argument '0' is invalid/],
    [
      [...url, "--batch", "1000", "--slots", "1001"],
      2,
      /expected at most 1000000 slots per request, got 1001000/,
    ],
    [[...url, "--rate", "0"], 2, /'--rate <requests\/s>' argument '0' is invalid/],
    [[...url, "--duration", "0"], 2, /'--duration <seconds>'/],
    [[...url, "--warm-up", "-1"], 2, /'--warm-up <seconds>'/],
    [[...url, "--absent", "1.1"], 2, /Expected a number from 0 to 1/],
    [[...url, "--estimates", "x"], 2, /Expected a number from 0 to 1/],
    [[...url, "--slots", "65536"], 2, /'--slots <count>'/],
    [[...url, "--blocks", "newest"], 2, /Expected latest, oldest, a block number, or two of them as A..B/],
    [[...url, "--accounts", "0"], 2, /'--accounts <count>'/],
    [[...url, "--accounts", "1", "--keys", keys], 2, /--accounts has no effect with --keys/],
    [[...url, "--keys", folder.file("missing")], 2, /--keys .*missing: ENOENT/],
    [[...url, "--keys", empty], 2, /--keys .*empty.txt: it names no account/],
    [[...url, "--seed", "-1"], 2, /'--seed <number>'/],
    [[...url, "--timeout", "0"], 2, /'--timeout <ms>'/],
    [[...url, "--verify", "all"], 2, /'--verify <calls>'/],
    [[...url, "--max-errors", "-1"], 2, /Expected a whole number of calls, or 0% to 100%, such as 0\.1%/],
    [[...url, "--max-errors", "101%"], 2, /'--max-errors <limit>' argument '101%' is invalid/],
    [[...url, "--max-errors", "0.5"], 2, /'--max-errors <limit>' argument '0\.5' is invalid/],
    [[...url, "--max-p99", "0"], 2, /Expected milliseconds above 0 and up to 600000, such as 12\.5/],
    [[...url, "--max-p99", "fast"], 2, /'--max-p99 <ms>'/],
    [[...url, "--html", folder.file("")], 2, /--html .*: expected a file, got a folder/],
    [[...url, "--html", folder.file("no/folder.html")], 2, /--html .*cannot be written: ENOENT/],
    [url, 2, /serves chain 1337, whose accounts are not known here: name them with --keys FILE/],
    [["--url", "http://127.0.0.1:1"], 1, /cannot reach http:\/\/127.0.0.1:1: connect ECONNREFUSED/],
    [["--url", `${service.url}/healthz`], 1, /answered web3_clientVersion with HTTP 40\d/],
  ];
  const server = await ForeignServer.start(sendResults);
  table.push([
    ["--url", server.url, "--absent", "1", "--blocks", "oldest"],
    2,
    /--blocks: the server does not say which block is its oldest/,
  ]);
  const ends = await runCommandLines(table.map(([args]) => ["load", ...args])).finally(() => server.stop());
  for (const [i, [args, code, message]] of table.entries()) {
    assert.match(ends[i]?.stderr ?? "", message, args.join(" "));
    assert.doesNotMatch(ends[i]?.stderr ?? "", /secret/);
    assert.deepEqual([ends[i]?.code, ends[i]?.stdout], [code, ""], args.join(" "));
  }
});

test("flags come from PROOFD_LOAD_ variables too, and a load that has not passed ends with exit code 1", async () => {
  const env = {
    PROOFD_LOAD_URL: service.url,
    PROOFD_LOAD_KEYS: keys,
    PROOFD_LOAD_DURATION: "1",
    PROOFD_LOAD_WARM_UP: "0",
    PROOFD_LOAD_JSON: "1",
    PROOFD_LOAD_BLOCKS: "2",
    PROOFD_LOAD_BATCH: "4",
    PROOFD_LOAD_RATE: "20",
    PROOFD_LOAD_MAX_P99: "0.001",
  };
  const {stdout, code, stderr} = await runProofd(["load", "--batch", "2"], {env});
  assert.equal(code, 1, stderr);
  assert.match(stderr, /^FAILED: p99 \(from due\) is [\d.]+ ms; --max-p99 allows 0\.001 ms\.\n$/);
  const {settings, command} = JSON.parse(stdout) as LoadReport;
  const variables = Object.entries(env).filter(([name]) => name !== "PROOFD_LOAD_BATCH");
  const named = variables.map(([name, value]) => `${name}=${value}`).sort();
  assert.deepEqual(command.split(" ").slice(0, named.length).sort(), named, "the report names them");
  assert.ok(command.endsWith(" proofd load --batch 2"), command);
  assert.equal(settings.batch, 2);
  assert.deepEqual(settings.blocks, {low: 2, high: 2});
});
