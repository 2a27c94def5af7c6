/** The client before servers whose answers are wrong, forged or hostile. foreignHttp.test.ts: servers that are busy, slow or broken. */
import assert from "node:assert/strict";
import {once} from "node:events";
import {test} from "node:test";
import {createProofClient, ProofError, type RpcError, sha256Suite} from "../../../client/client.ts";
import {
  ADDRESS,
  answerFinalized,
  createClient,
  hasCode,
  NO_COVERAGE,
  provenAnswer,
  root,
  server,
  startForeignProofd,
} from "../../support/http/foreignProofd.ts";
import {answerCalls, answerText} from "../../support/http/upstream.ts";

startForeignProofd();

const COVERED = JSON.stringify(NO_COVERAGE);

test("an answer that is longer than it can be is not read to its end", async () => {
  let closed: Promise<unknown> | undefined;
  server.handler = (_, response) => {
    closed = once(response, "close");
    response.writeHead(200);
    const spaces = " ".repeat(1 << 16);
    const writeOn = () => {
      while (response.write(spaces));
      response.once("drain", writeOn);
    };
    writeOn();
  };
  await assert.rejects(createClient().getCoverage(), hasCode("ANSWER_TOO_LONG"));
  await closed;
  assert.equal(server.requests.length, 1);
});

test("an answer in pieces of one byte is read", async () => {
  server.handler = async ({call}, response) => {
    const text = `${JSON.stringify({jsonrpc: "2.0", id: call.id, result: NO_COVERAGE})}${" ".repeat(40_000)}`;
    for (const one of text) response.write(one);
    response.end();
  };
  assert.deepEqual((await createClient().getCoverage()).ranges, []);
});

test("answers that are not JSON-RPC 2.0, or belong to another call, are BAD_ANSWER, and are not tried again", async () => {
  const answers = [
    "",
    "<html>hello</html>",
    '{"jsonrpc":"2.0","id":ID,"result":{',
    "null",
    "17",
    '"text"',
    "[]",
    "{}",
    '{"jsonrpc":"1.0","id":ID,"result":{}}',
    '{"id":ID,"result":{}}',
    '{"jsonrpc":"2.0","id":ID}',
    `{"jsonrpc":"2.0","id":99999,"result":${COVERED}}`,
    `{"jsonrpc":"2.0","id":"ID","result":${COVERED}}`,
    `{"jsonrpc":"2.0","result":${COVERED}}`,
    `{"jsonrpc":"2.0","id":99999,"error":{"code":-32005,"message":"full"}}`,
    `[{"jsonrpc":"2.0","id":ID,"result":${COVERED}}]`,
    '{"jsonrpc":"2.0","id":ID,"error":"broken"}',
    '{"jsonrpc":"2.0","id":ID,"error":{"code":"3","message":"x"}}',
    '{"jsonrpc":"2.0","id":ID,"error":{"code":3}}',
    `{"jsonrpc":"2.0","id":ID,"result":${"[".repeat(40_000)}`,
    // Results of another kind.
    '{"jsonrpc":"2.0","id":ID,"result":null}',
    '{"jsonrpc":"2.0","id":ID,"result":[]}',
    `{"jsonrpc":"2.0","id":ID,"result":${COVERED.replace('"0x0"', "0")}}`,
    `{"jsonrpc":"2.0","id":ID,"result":${COVERED.replace("[]", '[["0x0"]]')}}`,
    `{"jsonrpc":"2.0","id":ID,"result":${COVERED.replace("[]", '[["0x0","0x01"]]')}}`,
  ];
  for (const text of answers) {
    server.handler = answerText(text);
    await assert.rejects(createClient().getCoverage(), hasCode("BAD_ANSWER"), text.slice(0, 100));
  }
  server.handler = (_, response) => response.end(Buffer.from([0x22, 0xff, 0x22]));
  await assert.rejects(createClient().getCoverage(), hasCode("BAD_ANSWER"));
  assert.equal(server.requests.length, answers.length + 1);
});

test("a server's message is cut, and has no characters that fake lines", async () => {
  const text = JSON.stringify(`no\nsuch\u001b\u009bblock${"!".repeat(9000)}`);
  server.handler = answerText(`{"jsonrpc":"2.0","id":ID,"error":{"code":-32001,"message":${text}}}`);
  await assert.rejects(createClient().getCoverage(), {message: `no such  block${"!".repeat(486)}...`});
});

/** Answers getProof with a proof of block 0, whichever is asked for. */
function answerProof(change: (result: {block: object; proof: object}) => object): void {
  server.handler = answerCalls(() => ({result: change(provenAnswer())}));
}

test("a proof of another block, root or account is a ProofError, and is not tried again", async () => {
  answerProof(result => result);
  const client = createClient();
  assert.equal((await client.getProof({address: ADDRESS})).account?.balance, 5n);
  await assert.rejects(client.getProof({address: ADDRESS, block: 1}), {
    name: "ProofError",
    at: "block.number",
  });
  const other = `0x${"a2".repeat(20)}`;
  await assert.rejects(client.getProof({address: other}), ProofError);
  await assert.rejects(client.getProof({address: ADDRESS, storageKeys: ["0x1"]}), ProofError);
  answerProof(({block, proof}) => ({block: {...block, stateRoot: `0x${"11".repeat(32)}`}, proof}));
  await assert.rejects(client.getProof({address: ADDRESS}), {at: "block.stateRoot"});
  answerProof(({block}) => ({block, proof: {accountProof: "forged", storageProofs: []}}));
  await assert.rejects(client.getProof({address: ADDRESS}), ProofError);
  assert.equal(server.requests.length, 6);
  answerProof(({proof}) => ({block: {number: "0x0"}, proof}));
  await assert.rejects(client.getProof({address: ADDRESS}), hasCode("BAD_ANSWER"));
});

test("getMultiProof refuses bytes that are no proof, and JSON that is not their hex", async () => {
  const client = createClient();
  const entries = [{address: ADDRESS, storageKeys: []}];
  for (const bytes of [Buffer.alloc(0), Buffer.alloc(300, 7)]) {
    server.handler = (_, response) =>
      response.writeHead(200, {"content-type": "application/octet-stream"}).end(bytes);
    await assert.rejects(client.getMultiProof({entries, block: 0}), ProofError);
  }
  for (const result of [{accountTree: {}}, "0x0", "0X01", "", null]) {
    server.handler = answerCalls(() => ({result}));
    await assert.rejects(client.getMultiProof({entries, block: 0}), ProofError);
  }
  assert.equal(server.requests[0]?.head.headers.accept, "application/octet-stream, application/json");
});

test("an answer of more JSON values than any right one has is refused before they are made", async () => {
  const values = `[${"{},".repeat(1_000_000)}{}]`;
  server.handler = answerText(`{"jsonrpc":"2.0","id":ID,"result":${values}}`);
  const address = ADDRESS;
  const storageKeys = Array.from({length: 200}, (_, i) => `0x${i.toString(16)}`);
  const isBomb = (error: unknown) => {
    hasCode("BAD_ANSWER")(error);
    assert.match((error as RpcError).message, /^expected at most \d+ JSON values in the answer, got more$/);
    return true;
  };
  await assert.rejects(createClient().getProof({address, storageKeys}), isBomb);
  server.handler = answerText(`{"jsonrpc":"2.0","id":ID,"error":${values}}`, 400);
  await assert.rejects(createClient().getProof({address, storageKeys}), hasCode("HTTP_STATUS"));
});

test("waitForProof looks until the block is finalized, and asks again where another server is behind", async () => {
  const order: string[] = [];
  const finalized = [null, null, "0x0", "0x0", "0x0"];
  const notYet = {error: {code: -32002, message: "block 0x0 is not finalized"}};
  server.handler = answerCalls(method => {
    order.push(method);
    if (method === "chain_getCoverage") return {result: {...NO_COVERAGE, finalized: finalized.shift()}};
    return finalized.length > 0 ? notYet : {result: provenAnswer()};
  });
  const {account} = await createClient().waitForProof({address: ADDRESS, block: 0, intervalMs: 1});
  assert.equal(account?.balance, 5n);
  const both = ["chain_getCoverage", "chain_getProofAt"];
  assert.deepEqual(order, ["chain_getCoverage", "chain_getCoverage", ...both, ...both, ...both]);
});

test("waitForProof waits for the trusted root too, and says what is missing when its time is over", async () => {
  server.handler = answerFinalized;
  const asked: bigint[] = [];
  let missing: undefined | null;
  const trustedRoot = (block: bigint) => {
    asked.push(block);
    return (asked.length > 2 ? root : missing) as Uint8Array;
  };
  const client = createProofClient({url: server.url.href, suite: sha256Suite, trustedRoot});
  const {account} = await client.waitForProof({address: ADDRESS, block: 0, intervalMs: 1});
  assert.equal(account?.balance, 5n);
  assert.equal(asked.length, 3);
  for (missing of [undefined, null]) {
    asked.length = 0;
    await assert.rejects(
      client.waitForProof({address: ADDRESS, block: 0, timeoutMs: 0}),
      hasCode("ROOT_UNKNOWN"),
    );
  }
});

test("a trusted root that never comes ends its call with TIMEOUT, and the next call looks for it again", async () => {
  server.handler = answerFinalized;
  let looks = 0;
  const trustedRoot = () => (++looks === 1 ? new Promise<Uint8Array>(() => {}) : root);
  const client = createProofClient({
    url: server.url.href,
    suite: sha256Suite,
    trustedRoot,
    rootTimeoutMs: 1,
  });
  const ask = () => client.waitForProof({address: ADDRESS, block: 0, timeoutMs: 3_600_000});
  await assert.rejects(ask(), hasCode("TIMEOUT"));
  assert.equal((await ask()).account?.balance, 5n);
  assert.equal(looks, 2);
});
