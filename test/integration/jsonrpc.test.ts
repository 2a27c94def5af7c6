/** JSON-RPC over a real socket, with real workers and a real store: envelope, selectors, errors, limits, one head. */
import assert from "node:assert/strict";
import {after, before, describe, test} from "node:test";
import {sha256Suite} from "../../verify/hashSuites.ts";
import {decodeHex} from "../../verify/hex.ts";
import {verifyProof} from "../../verify/proofVerifier.ts";
import {type Daemon, startDaemon} from "../support/daemon.ts";
import {encodeLines} from "../support/differenceLine.ts";
import {
  ABSENT_ACCOUNT,
  ACCOUNTS,
  CHAIN_ID,
  createLine,
  createLines,
  hashOfBlock,
  WorkFolder,
} from "../support/serviceChain.ts";

const QUEUED_COST = 'proofd_queued_cost{lane="proof"}';
const LATEST = 6;
const FINALIZED = 4;
const ACCOUNT = ACCOUNTS[0] as string;

interface Answer {
  readonly jsonrpc: "2.0";
  readonly id: unknown;
  readonly result?: unknown;
  readonly error?: {readonly code: number; readonly message: string; readonly data?: unknown};
}

function proofCall(id: unknown, address = ACCOUNT, keys: readonly string[] = [], block: unknown = "latest") {
  return {jsonrpc: "2.0", id, method: "chain_getProof", params: [address, keys, block]};
}

describe("JSON-RPC", () => {
  let folder: WorkFolder;
  let daemon: Daemon;
  const roots: Uint8Array[] = [];

  before(async () => {
    folder = await WorkFolder.create();
    daemon = await startDaemon(["--db", await folder.importChain("db", LATEST, FINALIZED), "--workers", "2"]);
    for (let block = 0; block <= LATEST; block++) {
      const {result} = await daemon.call("chain_getStateRoot", [`0x${block.toString(16)}`]);
      roots.push(decodeHex(result.stateRoot));
    }
  });

  after(async () => {
    const {code} = await daemon.stop();
    await folder.remove();
    assert.equal(code, 0);
  });

  function verify(block: number, address: string, keys: readonly string[], answer: Answer) {
    assert.equal(answer.error, undefined);
    return verifyProof(sha256Suite, roots[block] as Uint8Array, address, keys, answer.result);
  }

  function assertError(answer: Answer, code: number, data?: unknown): void {
    assert.deepEqual(Object.keys(answer), ["jsonrpc", "id", "error"]);
    assert.equal(answer.error?.code, code, JSON.stringify(answer));
    assert.deepEqual(answer.error?.data, data);
  }

  test("a proof of a present account, its slots and its missing slots holds against the state root", async () => {
    const keys = ["0x1", "0x02", "0x3", "0x4", "0x1"];
    const answer = await daemon.send(proofCall(1, ACCOUNT, keys));
    assert.deepEqual(Object.keys(answer), ["jsonrpc", "id", "result"]);
    const proven = verify(FINALIZED, ACCOUNT, keys, answer);
    assert.notEqual(proven.account, null);
    assert.deepEqual(proven.slots.slice(1, 4), [0x22n, 0x33n, null]);
    assert.equal(proven.slots[0], proven.slots[4]);
  });

  test("a missing account is proved absent, and its slots by the absence proof of a new tree", async () => {
    const proven = verify(
      2,
      ABSENT_ACCOUNT,
      ["0x1"],
      await daemon.send(proofCall(1, ABSENT_ACCOUNT, ["0x1"], "0x2")),
    );
    assert.equal(proven.account, null);
    assert.deepEqual(proven.slots, [null]);
  });

  test("every finalized block is proved against its own root", async () => {
    const batch = [];
    for (let block = 0; block <= FINALIZED; block++)
      batch.push(proofCall(block, ACCOUNT, ["0x1"], `0x${block}`));
    for (const answer of await daemon.send(batch)) verify(answer.id, ACCOUNT, ["0x1"], answer);
  });

  test("mixed case is accepted, and the answer's key is lower case", async () => {
    const shouted = `0x${ACCOUNT.slice(2).toUpperCase()}`;
    const answer = await daemon.send(proofCall(1, shouted, ["0x0A"]));
    verify(FINALIZED, shouted, ["0x0A"], answer);
    assert.equal(answer.result.accountProof.key, ACCOUNT);
  });

  test("a batch answers good and bad elements in request order and leaves notifications out", async () => {
    const answers: Answer[] = await daemon.send([
      proofCall("a"),
      1,
      {jsonrpc: "2.0", method: "chain_getCoverage"},
      {jsonrpc: "2.0", id: 2, method: "no_such_method"},
      proofCall(3, "0x12"),
      {jsonrpc: "2.0", method: "chain_getProof", params: ["bad"]},
      proofCall(null, ABSENT_ACCOUNT, ["0x5"]),
      {id: 9},
      {jsonrpc: "2.0", id: 10, method: "chain_chainId"},
    ]);
    assert.deepEqual(
      answers.map(answer => [answer.id, answer.error?.code ?? "result"]),
      [
        ["a", "result"],
        [null, -32600],
        [2, -32601],
        [3, -32602],
        [null, "result"],
        [9, -32600],
        [10, "result"],
      ],
    );
    verify(FINALIZED, ACCOUNT, [], answers[0] as Answer);
    verify(FINALIZED, ABSENT_ACCOUNT, ["0x5"], answers[4] as Answer);
  });

  test("a body of notifications only is answered 204 without a body", async () => {
    const notification = {jsonrpc: "2.0", method: "chain_getProof", params: [ACCOUNT, [], "latest"]};
    for (const body of [notification, [notification, {jsonrpc: "2.0", method: "nonsense"}]]) {
      assert.deepEqual(await daemon.post(JSON.stringify(body)), {status: 204, text: ""});
    }
  });

  test("ids come back as they were sent, from the workers and from the main thread", async () => {
    const ids = [
      "1",
      "0",
      "-0",
      "1.0",
      "1e2",
      "1e400",
      "9007199254740993",
      "-1.5e-7",
      "null",
      '""',
      '"\u00e9\ud83d\ude00"',
    ];
    for (const method of ["chain_getProof", "chain_chainId", "nonsense"]) {
      const params = method === "chain_getProof" ? JSON.stringify([ACCOUNT, [], "latest"]) : "[]";
      for (const id of ids) {
        const call = `{"jsonrpc":"2.0","id":${id},"method":"${method}","params":${params}}`;
        const single = await daemon.post(call);
        assert.equal(single.status, 200);
        assert.ok(single.text.startsWith(`{"jsonrpc":"2.0","id":${id},`), single.text.slice(0, 80));
        const batch = await daemon.post(`[ ${call} ]`);
        assert.equal(batch.text, `[${single.text}]`);
      }
    }
  });

  test("what is no JSON and what is no request is answered with 200 and one error with id null", async () => {
    const table: [string | Uint8Array, number][] = [
      ["", -32700],
      ["{", -32700],
      ['{"jsonrpc":"2.0","id":1,"method":"chain_chainId"}x', -32700],
      [Buffer.from([0x22, 0xff, 0xfe, 0x22]), -32700],
      [Buffer.from("\ufeff{}"), -32700],
      ["[".repeat(65) + "]".repeat(65), -32700],
      ["[".repeat(1_000_000), -32700],
      ["[]", -32600],
      ["1", -32600],
      ['"text"', -32600],
      ["null", -32600],
      ["{}", -32600],
      ['{"jsonrpc":"2.0","id":[1],"method":"chain_chainId"}', -32600],
      ['{"__proto__":{"jsonrpc":"2.0","id":1,"method":"chain_chainId"}}', -32600],
    ];
    for (const [body, code] of table) {
      const {status, text} = await daemon.post(body);
      assert.equal(status, 200);
      const answer = JSON.parse(text);
      assertError(answer, code);
      assert.equal(answer.id, null);
    }
  });

  test("[1] is an array with one error", async () => {
    const answer = await daemon.send([1]);
    assert.equal(answer.length, 1);
    assertError(answer[0], -32600);
  });

  test("of duplicate keys the last counts", async () => {
    const {text} = await daemon.post('{"jsonrpc":"2.0","id":1,"id":2,"method":"x","method":"chain_chainId"}');
    assert.deepEqual(JSON.parse(text), {jsonrpc: "2.0", id: 2, result: CHAIN_ID});
  });

  test("params by name are -32602 and the message gives the order", async () => {
    const answer = await daemon.call("chain_getProof", {address: ACCOUNT, storageKeys: [], block: "latest"});
    assertError(answer, -32602);
    assert.match(answer.error.message, /\[address, storageKeys, block\]/);
    for (const method of ["chain_getStateRoot", "chain_getCoverage", "chain_chainId", "web3_clientVersion"]) {
      assertError(await daemon.call(method, {}), -32602);
    }
  });

  test("wrong parameters are -32602 naming the parameter, what came and what is expected", async () => {
    const answer = await daemon.send(proofCall(1, ACCOUNT, ["0x1", "0x2", "0x3", "0xzz"]));
    assertError(answer, -32602);
    assert.equal(
      answer.error.message,
      'params[1][3] (storage key) is "0xzz": expected 0x and 1 to 64 hex digits',
    );
    assertError(await daemon.call("chain_getStateRoot", ["0x1", "0x2"]), -32602);
    assertError(await daemon.call("chain_getCoverage", [1]), -32602);
  });

  test("selectors of chain_getProof name finalized blocks only", async () => {
    for (const tag of ["latest", "pending", "safe", "finalized", "0x04", {blockNumber: "0x4"}]) {
      verify(FINALIZED, ACCOUNT, [], await daemon.send(proofCall(1, ACCOUNT, [], tag)));
    }
    verify(0, ACCOUNT, [], await daemon.send(proofCall(1, ACCOUNT, [], "earliest")));
    verify(3, ACCOUNT, [], await daemon.send(proofCall(1, ACCOUNT, [], {blockHash: hashOfBlock(3)})));
  });

  test("selectors of chain_getStateRoot name any block held", async () => {
    const table: [readonly unknown[], number][] = [
      [[], LATEST],
      [[null], LATEST],
      [["latest"], LATEST],
      [["pending"], LATEST],
      [["safe"], FINALIZED],
      [["finalized"], FINALIZED],
      [["earliest"], 0],
      [["0x5"], 5],
      [[{blockHash: hashOfBlock(LATEST)}], LATEST],
    ];
    for (const [params, block] of table) {
      const {result} = await daemon.call("chain_getStateRoot", params);
      assert.deepEqual(Object.keys(result), ["number", "hash", "stateRoot", "finalized"]);
      assert.equal(result.number, `0x${block}`);
      assert.equal(result.hash, hashOfBlock(block));
      assert.equal(result.finalized, block <= FINALIZED);
    }
  });

  test("a block that is not held is -32001 with the coverage, one that is not finalized -32002", async () => {
    const coverage = {earliest: "0x0", finalized: "0x4"};
    const unknownHash = {blockHash: `0x${"12".repeat(32)}`};
    for (const block of ["0x7", "0xffffffffffffffffffff", unknownHash]) {
      assertError(await daemon.send(proofCall(1, ACCOUNT, [], block)), -32001, coverage);
      assertError(await daemon.call("chain_getStateRoot", [block]), -32001, coverage);
    }
    for (const block of ["0x5", "0x6", {blockHash: hashOfBlock(5)}]) {
      assertError(await daemon.send(proofCall(1, ACCOUNT, [], block)), -32002, {finalized: "0x4"});
    }
  });

  test("coverage, chain id and client version are told", async () => {
    const coverage = {earliest: "0x0", finalized: "0x4", latest: "0x6", suite: "sha256"};
    assert.deepEqual((await daemon.call("chain_getCoverage")).result, coverage);
    assert.equal((await daemon.call("chain_chainId")).result, CHAIN_ID);
    assert.match(
      (await daemon.call("web3_clientVersion")).result,
      /^proofd\/[0-9.]+\/[a-z0-9]+-[a-z0-9]+\/node[0-9.]+$/,
    );
  });

  test("unknown methods are -32601, also those that every object inherits", async () => {
    for (const method of ["eth_getProof", "", "constructor", "__proto__", "toString", "x".repeat(100_000)]) {
      const answer = await daemon.call(method);
      assertError(answer, -32601);
      assert.ok(answer.error.message.length < 200);
    }
  });

  test("1 000 calls in a batch are answered in order and every proof holds", async () => {
    const batch = [];
    for (let id = 0; id < 1000; id++) {
      const address = id % 7 === 0 ? ABSENT_ACCOUNT : (ACCOUNTS[id % ACCOUNTS.length] as string);
      batch.push(
        id % 10 === 9
          ? {jsonrpc: "2.0", id, method: "chain_chainId"}
          : proofCall(id, address, ["0x1", "0x9"]),
      );
    }
    const answers: Answer[] = await daemon.send(batch);
    assert.deepEqual(
      answers.map(answer => answer.id),
      batch.map(call => call.id),
    );
    for (const [id, answer] of answers.entries()) {
      if (id % 10 === 9) assert.equal(answer.result, CHAIN_ID);
      else if (id % 31 === 0) verify(FINALIZED, String(batch[id]?.params?.[0]), ["0x1", "0x9"], answer);
      else assert.ok(answer.result !== undefined);
    }
  });

  test("many clients at once each get their own answers", async () => {
    const rounds = Array.from({length: 200}, async (_, id) => {
      const address = ACCOUNTS[id % ACCOUNTS.length] as string;
      const answer = await daemon.send(proofCall(`client ${id}`, address, ["0x2"], `0x${id % 5}`));
      assert.equal(answer.id, `client ${id}`);
      assert.equal(answer.result.accountProof.key, address);
    });
    await Promise.all(rounds);
  });

  test("a batch that is too long or costs too much is one error for the whole request, and nothing runs", async () => {
    const before = await daemon.readMetric('proofd_calls_total{method="chain_getProof",code="0"}');
    const long = await daemon.post(JSON.stringify(Array.from({length: 1001}, (_, id) => proofCall(id))));
    assert.equal(long.status, 200);
    assertError(JSON.parse(long.text), -32005, {limit: 1000, got: 1001});
    assert.equal(JSON.parse(long.text).id, null);
    const keys = Array.from({length: 1024}, () => "0x1");
    const costly = await daemon.send(Array.from({length: 20}, (_, id) => proofCall(id, ACCOUNT, keys)));
    assertError(costly, -32005, {limit: 20_000, got: 20_500});
    assert.equal(costly.id, null);
    assert.equal(await daemon.readMetric('proofd_calls_total{method="chain_getProof",code="0"}'), before);
  });

  test("more than 1024 storage keys are -32005 for that call only", async () => {
    const keys = Array.from({length: 1025}, () => "0x1");
    const [many, fine] = await daemon.send([proofCall(1, ACCOUNT, keys), proofCall(2)]);
    assertError(many, -32005, {limit: 1024, got: 1025});
    verify(FINALIZED, ACCOUNT, [], fine);
  });

  test("1024 storage keys are one call, also behind a small one", async () => {
    const keys = Array.from({length: 1024}, (_, at) => `0x${at.toString(16)}`);
    const [small, large] = await daemon.send([proofCall(1), proofCall(2, ACCOUNT, keys)]);
    verify(FINALIZED, ACCOUNT, [], small);
    const proven = verify(FINALIZED, ACCOUNT, keys, large);
    assert.equal(proven.slots.length, 1024);
    assert.deepEqual(proven.slots.slice(2, 5), [0x22n, 0x33n, null]);
  });
});

describe("JSON-RPC limits", () => {
  let folder: WorkFolder;
  let db: string;

  before(async () => {
    folder = await WorkFolder.create();
    db = await folder.importChain("db", 1, 1);
  });

  after(() => folder.remove());

  async function withDaemon(args: readonly string[], use: (daemon: Daemon) => Promise<void>): Promise<void> {
    const daemon = await startDaemon(["--db", db, "--workers", "1", ...args]);
    try {
      await use(daemon);
    } finally {
      await daemon.stop();
    }
  }

  const heavy = Array.from({length: 12}, (_, id) =>
    proofCall(
      id,
      ACCOUNT,
      Array.from({length: 500}, (_, at) => `0x${at.toString(16)}`),
    ),
  );

  test("a response that could be too large is refused before any work, under the call's own id", async () => {
    await withDaemon(["--max-response-bytes", "20000"], async daemon => {
      assert.ok((await daemon.send(proofCall(1))).result !== undefined);
      const answer = await daemon.send(proofCall("mine", ACCOUNT, ["0x1"]));
      assert.equal(answer.id, "mine");
      assert.equal(answer.error.code, -32005);
      assert.equal(answer.error.data.limit, 20_000);
      assert.ok(answer.error.data.got > 20_000);
    });
  });

  test("a full queue turns new requests away with 503 and -32005, and takes them again later", async () => {
    await withDaemon(["--max-queue", "100"], async daemon => {
      const first = daemon.send(heavy); // larger than the queue, and admitted since it is empty
      while ((await daemon.readMetric(QUEUED_COST)) === 0);
      const {status, text} = await daemon.post(JSON.stringify([proofCall(1)]));
      const answer = JSON.parse(text);
      assert.equal(status, 503);
      assert.equal(answer.id, null);
      assert.equal(answer.error.code, -32005);
      assert.equal(answer.error.data.limit, 100);
      assert.ok(answer.error.data.got > 100);
      assert.equal(JSON.parse((await daemon.post(JSON.stringify(proofCall("own")))).text).id, "own");
      assert.equal((await daemon.call("chain_chainId")).result, CHAIN_ID, "calls without cost need no queue");
      assert.ok((await first).every((one: Answer) => one.result !== undefined));
      assert.ok((await daemon.send(proofCall(1))).result !== undefined);
      assert.equal(await daemon.readMetric(QUEUED_COST), 0);
    });
  });

  test("calls that are not finished in time are -32005 with the limit, in their places", async () => {
    const keys = Array.from({length: 1000}, (_, at) => `0x${at.toString(16)}`);
    const slow = Array.from({length: 19}, (_, at) => proofCall(at + 1, ACCOUNT, keys));
    await withDaemon(["--request-timeout", "150"], async daemon => {
      await daemon.send(proofCall(0));
      const batch = [proofCall(0), ...slow, {jsonrpc: "2.0", id: 20, method: "chain_chainId"}];
      const answers: Answer[] = await daemon.send(batch);
      assert.deepEqual(
        answers.map(answer => answer.id),
        Array.from({length: 21}, (_, id) => id),
      );
      const late = answers.filter(answer => answer.error !== undefined);
      assert.notEqual(late.length, 0);
      for (const {error} of late) {
        assert.equal(error?.code, -32005);
        const {limit, got} = (error as {data: {limit: number; got: number}}).data;
        assert.equal(limit, 150);
        assert.ok(got >= 150 && got < 5000);
      }
      assert.ok(answers[0]?.result !== undefined);
      assert.equal(answers[20]?.result, CHAIN_ID);
    });
  });

  test("the limits on batch and keys are flags", async () => {
    await withDaemon(["--max-batch", "2", "--max-storage-keys", "1", "--max-cost", "3"], async daemon => {
      assert.deepEqual((await daemon.send([1, 2, 3])).error.data, {limit: 2, got: 3});
      assert.deepEqual((await daemon.send(proofCall(1, ACCOUNT, ["0x1", "0x2"]))).error.data, {
        limit: 1,
        got: 2,
      });
      const costly = await daemon.send([proofCall(1, ACCOUNT, ["0x1"]), proofCall(2, ACCOUNT, ["0x1"])]);
      assert.deepEqual(costly.error.data, {limit: 3, got: 4});
    });
  });
});

describe("JSON-RPC during an import", () => {
  let folder: WorkFolder;

  before(async () => {
    folder = await WorkFolder.create();
  });

  after(() => folder.remove());

  test("one HTTP request sees one head while blocks are imported, and proofs match it", async () => {
    const daemon = await startDaemon(["--db", folder.file("fed"), "--diffs", "-", "--workers", "2"]);
    const last = 40;
    daemon.child.stdin.write(encodeLines([createLine(0, 0)]));
    while ((await daemon.post('{"jsonrpc":"2.0","id":1,"method":"chain_getCoverage"}')).status !== 200);
    const batch = [
      {jsonrpc: "2.0", id: 0, method: "chain_getCoverage"},
      ...Array.from({length: 100}, (_, at) => proofCall(at + 1, ACCOUNTS[at % 5] as string, ["0x1"])),
      {jsonrpc: "2.0", id: 101, method: "chain_getStateRoot", params: ["finalized"]},
      {jsonrpc: "2.0", id: 102, method: "chain_getStateRoot", params: ["latest"]},
      {jsonrpc: "2.0", id: 103, method: "chain_getCoverage"},
    ];
    const seen = new Set<string>();
    let fed = 0;
    let finalized = 0;
    while (finalized < last) {
      if (fed < last) {
        fed++;
        daemon.child.stdin.write(encodeLines([createLine(fed, fed)]));
        if (fed === last) daemon.child.stdin.end();
      }
      const answers: Answer[] = await daemon.send(batch);
      const [coverage, root, newest] = [answers[0], answers[101], answers[102]].map(one => one?.result) as {
        [field: string]: string;
      }[];
      assert.deepEqual(answers[103]?.result, coverage);
      assert.equal(root?.number, coverage?.finalized);
      assert.equal(newest?.number, coverage?.latest);
      for (const at of [1, 50, 100]) {
        const address = ACCOUNTS[(at - 1) % 5] as string;
        verifyProof(sha256Suite, decodeHex(root?.stateRoot), address, ["0x1"], answers[at]?.result);
      }
      seen.add(String(coverage?.finalized));
      finalized = Number(coverage?.finalized);
    }
    assert.ok(seen.size > 3, `the head moved between requests: ${[...seen].join(" ")}`);
    await daemon.waitForStderr(/the import has ended/);
    assert.equal((await daemon.stop()).code, 0);
  });

  test("an empty store is not ready; blocks that are not finalized are -32002 with null", async () => {
    const daemon = await startDaemon(["--db", folder.file("unfinalized"), "--diffs", "-"]);
    const empty = await fetch(daemon.url, {
      method: "POST",
      headers: {"content-type": "application/json"},
      body: "{}",
    });
    assert.equal(empty.status, 503);
    assert.notEqual(empty.headers.get("retry-after"), null);
    daemon.child.stdin.end(encodeLines(createLines(0, 2)));
    await daemon.waitForStderr(/the import has ended/);
    const answer = await daemon.send(proofCall(1));
    assert.equal(answer.error.code, -32002);
    assert.deepEqual(answer.error.data, {finalized: null});
    const coverage = {earliest: "0x0", finalized: null, latest: "0x2", suite: "sha256"};
    assert.deepEqual((await daemon.call("chain_getCoverage")).result, coverage);
    assert.equal((await fetch(`${daemon.url}/readyz`)).status, 503);
    assert.equal((await daemon.stop()).code, 0);
  });

  test("an import that fails is logged and counted, and what is held is served on", async () => {
    const daemon = await startDaemon(["--db", folder.file("broken"), "--diffs", "-"]);
    daemon.child.stdin.end(
      `${encodeLines([createLine(0, 0), createLine(1, 1)])}{"number":"0x2","accounts":5}\n`,
    );
    await daemon.waitForStderr(/the import failed/);
    const line = daemon.stderr.split("\n").find(one => one.includes("the import failed")) as string;
    assert.equal(JSON.parse(line).level, 50);
    assert.match(JSON.parse(line).reason, /line 3/);
    assert.equal(await daemon.readMetric("proofd_import_failed"), 1);
    assert.equal((await daemon.call("chain_getCoverage")).result.finalized, "0x1");
    assert.ok((await daemon.send(proofCall(1))).result !== undefined);
    assert.equal((await daemon.stop()).code, 0);
  });

  test("a chain whose block 0 names no chain id has none, unless --chain-id names it", async () => {
    const {chainId: _, ...nameless} = createLine(0, 0);
    const first = await startDaemon(["--db", folder.file("nameless"), "--diffs", "-"]);
    first.child.stdin.end(encodeLines([nameless]));
    await first.waitForStderr(/the import has ended/);
    assert.equal((await first.call("chain_chainId")).error.code, -32004);
    await first.stop();
    const second = await startDaemon(["--db", folder.file("named"), "--diffs", "-", "--chain-id", "7"]);
    second.child.stdin.end(encodeLines([nameless]));
    await second.waitForStderr(/the import has ended/);
    assert.equal((await second.call("chain_chainId")).result, "0x7");
    await second.stop();
  });
});
