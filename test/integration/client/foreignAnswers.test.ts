/** The client before servers that are busy, slow, broken or hostile: real HTTP, with answers as each test writes them. */
import assert from "node:assert/strict";
import {once} from "node:events";
import type {ServerResponse} from "node:http";
import {after, afterEach, before, test} from "node:test";
import {
  type ConnectionOptions,
  createProofClient,
  ProofError,
  RpcError,
  sha256Suite,
} from "../../../client/client.ts";
import {answerCalls, answerText, Upstream, type UpstreamRequest} from "../../support/http/upstream.ts";
import {ReferenceState} from "../../support/reference/referenceState.ts";

const ADDRESS = `0x${"a1".repeat(20)}`;
const NO_COVERAGE = {
  earliest: null,
  finalized: null,
  latest: null,
  suite: "sha256",
  ranges: [],
  rangeCount: "0x0",
};
const COVERED = JSON.stringify(NO_COVERAGE);

const state = new ReferenceState(sha256Suite, [
  {number: "0x0", hash: `0x${"00".repeat(32)}`, accounts: {[ADDRESS]: {balance: "0x5"}}},
]);
const root = state.stateRoot(0);

const server = new Upstream();
before(() => server.start());
after(() => server.stop());
afterEach(() => {
  server.requests.length = 0;
});

function createClient(options: Partial<ConnectionOptions> = {}) {
  return createProofClient({
    url: server.url.href,
    suite: sha256Suite,
    trustedRoot: root,
    retry: {times: 2, firstMs: 1},
    ...options,
  });
}

function hasCode(code: unknown) {
  return (error: unknown): boolean => {
    assert.ok(error instanceof RpcError, String(error));
    assert.equal(error.code, code);
    assert.ok(!error.message.includes("secret"), "the message has a part of the URL");
    return true;
  };
}

/** Answers the first requests so, and all after them as an empty proofd does. */
function answerFirst(count: number, answer: (response: ServerResponse) => void): void {
  server.handler = (request, response) => {
    if (server.requests.length <= count) answer(response);
    else answerCalls(() => ({result: NO_COVERAGE}))(request, response);
  };
}

for (const status of [429, 502, 503, 504])
  test(`HTTP status ${status} is tried again`, async () => {
    answerFirst(2, response => response.writeHead(status).end("busy"));
    assert.equal((await createClient().getCoverage()).suite, "sha256");
    assert.equal(server.requests.length, 3);
  });

test("a connection that is closed without an answer, or in the middle of one, is tried again", async () => {
  answerFirst(1, response => response.destroy());
  await createClient().getCoverage();
  assert.equal(server.requests.length, 2);
  server.requests.length = 0;
  answerFirst(1, response => {
    response.writeHead(200, {"content-length": 500}).write('{"jsonrpc"', () => response.destroy());
  });
  await createClient().getCoverage();
  assert.equal(server.requests.length, 2);
});

test("after the last try, the error of the server is thrown", async () => {
  const refusal = '{"jsonrpc":"2.0","id":null,"error":{"code":-32005,"message":"the queue is full"}}';
  server.handler = answerText(refusal, 503);
  await assert.rejects(createClient().getCoverage(), error => {
    hasCode(-32005)(error);
    assert.equal((error as RpcError).status, 503);
    return true;
  });
  assert.equal(server.requests.length, 3);
  server.handler = (_, response) => response.destroy();
  await assert.rejects(createClient().getCoverage(), hasCode("UNREACHABLE"));
  assert.equal(server.requests.length, 6);
});

test("a server that asks for a wait is not asked again before, and not at all if the wait is too long", async () => {
  const order: string[] = [];
  answerFirst(1, response => {
    setTimeout(() => order.push("most of the second is over"), 900);
    response.writeHead(503, {"retry-after": "1"}).end();
  });
  await createClient().getCoverage();
  order.push("asked again");
  assert.deepEqual(order, ["most of the second is over", "asked again"]);
  server.requests.length = 0;
  const inAnHour = new Date(Date.now() + 3_600_000).toUTCString();
  for (const wait of ["61", inAnHour]) {
    answerFirst(1, response => response.writeHead(429, {"retry-after": wait}).end());
    await assert.rejects(createClient().getCoverage(), hasCode("HTTP_STATUS"));
    assert.equal(server.requests.length, 1);
    server.requests.length = 0;
  }
});

test("other statuses are errors at once, with the server's error where there is one", async () => {
  const notFound = '{"jsonrpc":"2.0","id":null,"error":{"code":-32600,"message":"unknown path"}}';
  const cases: [text: string, status: number, code: unknown][] = [
    [notFound, 404, -32600],
    ["<html>no such page</html>", 404, "HTTP_STATUS"],
    [`{"jsonrpc":"2.0","id":ID,"result":${COVERED}}`, 500, "HTTP_STATUS"],
    ["", 204, "HTTP_STATUS"],
  ];
  for (const [text, status, code] of cases) {
    server.handler = answerText(text, status);
    await assert.rejects(createClient().getCoverage(), hasCode(code));
  }
  server.handler = (_, response) => response.writeHead(302, {location: "/elsewhere"}).end();
  await assert.rejects(createClient().getCoverage(), hasCode("HTTP_STATUS"));
  assert.equal(server.requests.length, cases.length + 1);
});

test("a call that is not answered in its time is TIMEOUT, before its head and in its body", async () => {
  // A server of its own: it may see a request after its call is over.
  const slow = new Upstream();
  await slow.start();
  const client = createClient({url: slow.url.href, timeoutMs: 50});
  slow.handler = () => {};
  await assert.rejects(client.getCoverage(), hasCode("TIMEOUT"));
  slow.handler = (_, response) => response.write('{"jsonrpc":"2.0",');
  await assert.rejects(client.getCoverage(), hasCode("TIMEOUT"));
  // Neither was tried again.
  assert.ok(slow.requests.length <= 2);
  await slow.stop();
});

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

test("the page of a proxy that is busy is tried again, although no answer is so long", async () => {
  answerFirst(1, response => response.writeHead(503).end(" ".repeat(40_000)));
  assert.equal((await createClient().getCoverage()).suite, "sha256");
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

type Calls = readonly UpstreamRequest["call"][];

/** Makes three calls in one tick. @returns what becomes of them: "answer", or the code of an error */
async function askThree(answer: (calls: Calls) => unknown): Promise<unknown[]> {
  server.handler = ({call}, response) => {
    response.end(JSON.stringify(answer([call].flat())));
  };
  const client = createClient();
  const settled = await Promise.allSettled([1, 2, 3].map(() => client.getCoverage()));
  return settled.map(one => (one.status === "fulfilled" ? "answer" : one.reason.code));
}

const answerOne = ({id}: {readonly id: number}) => ({jsonrpc: "2.0", id, result: NO_COVERAGE});

test("answers to a batch are matched by id, in any order", async () => {
  assert.deepEqual(await askThree(calls => calls.map(answerOne).reverse()), ["answer", "answer", "answer"]);
  assert.equal(server.requests.length, 1);
});

test("an error in a batch is the error of its call alone", async () => {
  const error = {code: -32001, message: "no such block"};
  const outcome = await askThree(calls =>
    calls.map((call, at) => (at === 1 ? {jsonrpc: "2.0", id: call.id, error} : answerOne(call))),
  );
  assert.deepEqual(outcome, ["answer", -32001, "answer"]);
});

test("a batch with a missing, foreign or repeated id gives no answer to anyone", async () => {
  const spoilers: ((answers: object[]) => unknown)[] = [
    answers => answers.slice(1),
    answers => [...answers, answers[0]],
    answers => [answers[0], answers[0], answers[2]],
    answers => [answers[0], answers[1], {...answers[2], id: 99_999}],
    answers => [answers[0], answers[1], {...answers[2], id: null}],
    answers => [answers[0], answers[1], null],
    answers => answers[0],
    () => [],
  ];
  for (const spoil of spoilers) {
    const outcome = await askThree(calls => spoil(calls.map(answerOne)));
    assert.deepEqual(outcome, ["BAD_ANSWER", "BAD_ANSWER", "BAD_ANSWER"]);
  }
  assert.equal(server.requests.length, spoilers.length);
});

test("a batch that is answered by a single error is sent in halves, and an error for each call stays", async () => {
  const error = {code: -32600, message: "no batches here"};
  const refuse = (calls: Calls) =>
    calls.length > 1 ? {jsonrpc: "2.0", id: null, error} : calls.map(answerOne)[0];
  assert.deepEqual(await askThree(refuse), ["answer", "answer", "answer"]);
  assert.equal(server.requests.length, 5);
  server.requests.length = 0;
  assert.deepEqual(await askThree(() => ({jsonrpc: "2.0", id: null, error})), [-32600, -32600, -32600]);
  assert.equal(server.requests.length, 5);
});

test("at most so many requests are open as the caller allows, and an aborted call makes room", async () => {
  const held: ServerResponse[] = [];
  let waiting: (() => void) | undefined;
  server.handler = (_, response) => {
    held.push(response);
    waiting?.();
  };
  const holdRequests = async (count: number) => {
    while (held.length < count)
      await new Promise<void>(resolve => {
        waiting = resolve;
      });
  };
  const client = createClient({concurrency: 2, maxBatchCalls: 1});
  const aborts = Array.from({length: 4}, () => new AbortController());
  const calls = aborts.map(({signal}) => client.getCoverage({signal}));
  const settled = Promise.allSettled(calls);
  await holdRequests(2);
  // The third is aborted before its turn, so the fourth comes when the first ends.
  aborts[2]?.abort(new Error("third"));
  await assert.rejects(calls[2] as Promise<unknown>, /third/);
  aborts[0]?.abort(new Error("first"));
  await holdRequests(3);
  for (const response of held) response.destroy();
  server.handler = answerCalls(() => ({result: NO_COVERAGE}));
  assert.deepEqual(
    (await settled).map(({status}) => status),
    ["rejected", "fulfilled", "rejected", "fulfilled"],
  );
  // The two that were held are tried again.
  assert.equal(server.requests.length, 5);
});

test("an aborted call of a batch rejects at once, and the others get their answers", async () => {
  let release: (() => void) | undefined;
  const arrived = new Promise<void>(resolve => {
    server.handler = (request, response) => {
      release = () => answerCalls(() => ({result: NO_COVERAGE}))(request, response);
      resolve();
    };
  });
  const client = createClient();
  const abort = new AbortController();
  const aborted = client.getCoverage({signal: abort.signal});
  const other = client.getCoverage();
  await arrived;
  abort.abort();
  await assert.rejects(aborted, {name: "AbortError"});
  release?.();
  assert.equal((await other).suite, "sha256");
  await assert.rejects(client.getCoverage({signal: AbortSignal.abort()}), {name: "AbortError"});
  assert.equal(server.requests.length, 1);
});

/** Answers getProof with a proof of block 0, whichever is asked for. */
function answerProof(change: (result: {block: object; proof: object}) => object): void {
  const block = {
    number: "0x0",
    hash: `0x${"00".repeat(32)}`,
    stateRoot: `0x${Buffer.from(root).toString("hex")}`,
    finalized: true,
  };
  server.handler = answerCalls(() => ({result: change({block, proof: state.prove(0, ADDRESS, [])})}));
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

test("headers go with every request, and options that are none are refused", async () => {
  server.handler = answerCalls(() => ({result: NO_COVERAGE}));
  await createClient({headers: {authorization: "Bearer 17"}}).getCoverage();
  assert.equal(server.requests[0]?.head.headers.authorization, "Bearer 17");
  const wrong: Partial<ConnectionOptions>[] = [
    {url: "ftp://127.0.0.1"},
    {url: "nowhere"},
    {url: "http://user:word@127.0.0.1"},
    {timeoutMs: 0},
    {timeoutMs: 2 ** 31},
    {concurrency: 0},
    {maxBatchCalls: 0.5},
    {retry: {times: -1}},
  ];
  for (const options of wrong) assert.throws(() => createClient(options), TypeError);
  for (const missing of ["suite", "trustedRoot"])
    assert.throws(() => createClient({[missing]: undefined}), /suite and trustedRoot are needed/);
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

/** Answers as a proofd does whose block 0 is finalized from the answer with this number on. */
function finalizeAfter(count: number): void {
  const number = "0x0";
  const notYet = {error: {code: -32002, message: "block 0x0 is not finalized"}};
  server.handler = answerCalls(method => {
    const result = method === "chain_waitForProof" ? state.prove(0, ADDRESS, []) : {number};
    return method === "chain_waitForProof" && server.requests.length <= count ? notYet : {result};
  });
}

test("waitForProof asks again when a server does not wait as long as it was asked to", async () => {
  finalizeAfter(1);
  const {account} = await createClient().waitForProof({address: ADDRESS, block: 0, timeoutMs: 100});
  assert.equal(account?.balance, 5n);
  assert.equal(server.requests.length, 2);
});

test("waitForProof waits for the trusted root too, and says what is missing when its time is over", async () => {
  finalizeAfter(0);
  const asked: bigint[] = [];
  const trustedRoot = (block: bigint) => {
    asked.push(block);
    return (asked.length > 2 ? root : undefined) as Uint8Array;
  };
  const client = createProofClient({url: server.url.href, suite: sha256Suite, trustedRoot});
  const {account} = await client.waitForProof({address: ADDRESS, block: 0});
  assert.equal(account?.balance, 5n);
  assert.equal(asked.length, 3);
  asked.length = 0;
  await assert.rejects(
    client.waitForProof({address: ADDRESS, block: 0, timeoutMs: 0}),
    hasCode("ROOT_UNKNOWN"),
  );
});

test("a trusted root that never comes ends its call with TIMEOUT, and the next call looks for it again", async () => {
  finalizeAfter(0);
  let looks = 0;
  const trustedRoot = () => (++looks === 1 ? new Promise<Uint8Array>(() => {}) : root);
  const client = createProofClient({
    url: server.url.href,
    suite: sha256Suite,
    trustedRoot,
    rootTimeoutMs: 1,
  });
  const ask = () => client.waitForProof({address: ADDRESS, block: 0, timeoutMs: 1000});
  await assert.rejects(ask(), hasCode("TIMEOUT"));
  assert.equal((await ask()).account?.balance, 5n);
  assert.equal(looks, 2);
});

for (const nothing of [undefined, null])
  test(`a trusted root that is ${nothing} is ROOT_UNKNOWN`, async () => {
    finalizeAfter(0);
    const trustedRoot = () => nothing as unknown as Uint8Array;
    const client = createProofClient({url: server.url.href, suite: sha256Suite, trustedRoot});
    await assert.rejects(
      client.waitForProof({address: ADDRESS, block: 0, timeoutMs: 0}),
      hasCode("ROOT_UNKNOWN"),
    );
  });
