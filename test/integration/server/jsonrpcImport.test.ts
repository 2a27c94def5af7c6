/** A service that imports while it answers: one head per request, and what it says before, after and without a block. */
import assert from "node:assert/strict";
import {describe, test} from "node:test";
import {decodeHex} from "../../../client/bytes/hex.ts";
import {sha256Suite} from "../../../client/hash/hashSuites.ts";
import {encodeLines} from "../../support/chains/differenceLine.ts";
import {ACCOUNTS, createLine, createLines, WorkFolder} from "../../support/chains/serviceChain.ts";
import type {Answer} from "../../support/http/jsonrpcAnswer.ts";
import {OwnService} from "../../support/http/ownService.ts";
import {proofAtCall, proofCall} from "../../support/http/wireRequests.ts";
import {verifyProof} from "../../support/reference/exactProof.ts";

describe("JSON-RPC during an import", () => {
  const folder = new WorkFolder();

  test("one HTTP request sees one head while blocks are imported, and proofs match it", async () => {
    const daemon = await OwnService.fed(folder.file("fed"), ["--workers", "2"]);
    const last = 12;
    daemon.input.write(encodeLines([createLine(0, 0)]));
    await daemon.until(
      "the first block",
      async () => (await daemon.call("chain_getCoverage")).result !== undefined,
    );
    const batch = [
      {jsonrpc: "2.0", id: 0, method: "chain_getCoverage"},
      ...Array.from({length: 40}, (_, at) => proofCall(at + 1, ACCOUNTS[at % 5] as string, ["0x1"])),
      {jsonrpc: "2.0", id: 41, method: "chain_getStateRoot", params: ["finalized"]},
      {jsonrpc: "2.0", id: 42, method: "chain_getStateRoot", params: ["latest"]},
      {jsonrpc: "2.0", id: 43, method: "chain_getCoverage"},
      ...Array.from({length: 40}, (_, at) => proofAtCall(at + 44, ACCOUNTS[at % 5] as string, ["0x1"])),
    ];
    const seen = new Set<string>();
    let fed = 0;
    let finalized = 0;
    while (finalized < last) {
      if (fed < last) {
        fed++;
        daemon.input.write(encodeLines([createLine(fed, fed)]));
        if (fed === last) daemon.input.end();
      }
      const answers: Answer[] = await daemon.send(batch);
      const [coverage, root, newest] = [answers[0], answers[41], answers[42]].map(one => one?.result) as {
        [field: string]: string;
      }[];
      assert.deepEqual(answers[43]?.result, coverage);
      assert.equal(root?.number, coverage?.finalized);
      assert.equal(newest?.number, coverage?.latest);
      for (const at of [1, 20, 40]) {
        const address = ACCOUNTS[(at - 1) % 5] as string;
        verifyProof(sha256Suite, decodeHex(root?.stateRoot), address, ["0x1"], answers[at]?.result);
        const {block, proof} = (answers[at + 43] as Answer).result as {[field: string]: unknown};
        assert.deepEqual(block, root);
        assert.deepEqual(proof, answers[at]?.result);
      }
      seen.add(String(coverage?.finalized));
      finalized = Number(coverage?.finalized);
      // However slow the import is: it comes along every now and then.
      if (fed % 5 === 0)
        await daemon.until(`block ${fed} to be final`, async () => {
          return Number((await daemon.call("chain_getCoverage")).result.finalized) >= fed;
        });
    }
    assert.ok(seen.size > 3, `the head moved between requests: ${[...seen].join(" ")}`);
    await daemon.waitForStderr(/the import has ended/);
    await daemon.stop();
  });

  test("an empty store is not ready; blocks that are not finalized are -32002 with null", async () => {
    const daemon = await OwnService.fed(folder.file("unfinalized"));
    const empty = await fetch(daemon.url, {
      method: "POST",
      headers: {"content-type": "application/json"},
      body: "{}",
    });
    assert.equal(empty.status, 503);
    assert.notEqual(empty.headers.get("retry-after"), null);
    daemon.input.end(encodeLines(createLines(0, 2)));
    await daemon.waitForStderr(/the import has ended/);
    const answer = await daemon.send(proofCall(1));
    assert.equal(answer.error.code, -32002);
    assert.deepEqual(answer.error.data, {finalized: null});
    const nothing = {ranges: [], rangeCount: "0x0", unverified: ["0x0", "0x2"], openResets: null};
    const coverage = {earliest: "0x0", finalized: null, latest: "0x2", suite: "sha256", ...nothing};
    assert.deepEqual((await daemon.call("chain_getCoverage")).result, coverage);
    assert.equal((await daemon.get("/readyz")).status, 503);
    await daemon.stop();
  });

  test("an import that fails is logged and counted, and the store is served on", async () => {
    const daemon = await OwnService.fed(folder.file("broken"));
    daemon.input.end(`${encodeLines([createLine(0, 0), createLine(1, 1)])}{"number":"0x2","accounts":5}\n`);
    await daemon.waitForStderr(/the import failed/);
    const line = daemon.stderr.split("\n").find(one => one.includes("the import failed")) as string;
    assert.equal(JSON.parse(line).level, 50);
    assert.match(JSON.parse(line).reason, /line 3/);
    assert.equal(await daemon.readMetric("proofd_import_failed"), 1);
    assert.equal((await daemon.call("chain_getCoverage")).result.finalized, "0x1");
    const {status, text} = await daemon.get("/readyz");
    assert.equal(status, 200);
    assert.match(text, /^the import has failed, and is not tried again: line 3: /m);
    assert.ok((await daemon.send(proofCall(1))).result !== undefined);
    await daemon.stop();
  });

  test("--chain-id names the chain where block 0 does not", async () => {
    const {chainId: _, ...nameless} = createLine(0, 0);
    const daemon = await OwnService.fed(folder.file("named"), ["--chain-id", "7"]);
    daemon.input.end(encodeLines([nameless]));
    await daemon.waitForStderr(/the import has ended/);
    assert.equal((await daemon.call("chain_chainId")).result, "0x7");
    await daemon.stop();
  });
});
