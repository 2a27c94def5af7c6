/** The client before servers that are busy, slow or broken: what is tried again, and when a call ends. */
import assert from "node:assert/strict";
import type {ServerResponse} from "node:http";
import {test} from "node:test";
import type {ConnectionOptions, RpcError} from "../../../client/client.ts";
import {
  answerFirst,
  createClient,
  hasCode,
  NO_COVERAGE,
  server,
  startForeignProofd,
} from "../../support/http/foreignProofd.ts";
import {answerCalls, answerText, Upstream} from "../../support/http/upstream.ts";
import {waitUntil} from "../../support/wait.ts";

startForeignProofd();

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
    [`{"jsonrpc":"2.0","id":ID,"result":${JSON.stringify(NO_COVERAGE)}}`, 500, "HTTP_STATUS"],
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

test("the page of a proxy that is busy is tried again, although no answer is so long", async () => {
  answerFirst(1, response => response.writeHead(503).end(" ".repeat(40_000)));
  assert.equal((await createClient().getCoverage()).suite, "sha256");
});

test("at most so many requests are open as the caller allows, and an aborted call makes room", async () => {
  const held: ServerResponse[] = [];
  server.handler = (_, response) => held.push(response);
  const holdRequests = (count: number) => waitUntil(`${count} requests`, () => held.length >= count);
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
    assert.throws(() => createClient({[missing]: undefined}), /expected the options suite and trustedRoot/);
});
