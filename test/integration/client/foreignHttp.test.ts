/** The client before servers that are busy, slow or broken: which errors calls have, what asks again, and when a call ends. */
import assert from "node:assert/strict";
import {once} from "node:events";
import type {ServerResponse} from "node:http";
import {test} from "node:test";
import type {RpcError, UrlOptions} from "../../../client/client.ts";
import {
  ADDRESS,
  answerFirst,
  createClient,
  hasCode,
  NO_COVERAGE,
  server,
  startForeignProofd,
} from "../../support/http/foreignProofd.ts";
import {answerCalls, answerText, Upstream} from "../../support/http/upstream.ts";

startForeignProofd();

function wait() {
  return createClient().waitForProof({address: ADDRESS, block: 0});
}

for (const status of [429, 502, 503, 504])
  test(`HTTP status ${status} is the error of a call, and a wait asks again`, async () => {
    answerFirst(1, response => response.writeHead(status).end("busy"));
    await assert.rejects(createClient().getCoverage(), hasCode("HTTP_STATUS"));
    assert.equal(server.requests.length, 1);
    server.requests.length = 0;
    assert.equal((await wait()).account?.balance, 5n);
    assert.equal(server.requests.length, 3);
  });

test("so does a connection that is closed without an answer, or in the middle of one", async () => {
  const breaks: ((response: ServerResponse) => void)[] = [
    response => response.destroy(),
    response => {
      response.writeHead(200, {"content-length": 500}).write('{"jsonrpc"', () => response.destroy());
    },
  ];
  for (const answer of breaks) {
    answerFirst(1, answer);
    await assert.rejects(createClient().getCoverage(), hasCode("UNREACHABLE"));
    assert.equal(server.requests.length, 1);
    server.requests.length = 0;
    await wait();
    assert.equal(server.requests.length, 3);
    server.requests.length = 0;
  }
});

test("the error of a server that is away names its URL without secrets, and the reason", async () => {
  const gone = new Upstream();
  await gone.start();
  await gone.stop();
  const {port} = gone.url;
  const unreachable = (url: string, reason: string) => ({
    code: "UNREACHABLE",
    message: `${url}: no answer: ${reason}`,
  });
  await assert.rejects(
    createClient({url: `http://127.0.0.1:${port}/key-of-a-user`}).getCoverage(),
    unreachable(`http://127.0.0.1:${port}/***`, `connect ECONNREFUSED 127.0.0.1:${port}`),
  );
  await assert.rejects(createClient({url: "http://nowhere.invalid"}).getCoverage(), ({message}: RpcError) =>
    /^http:\/\/nowhere\.invalid: no answer: getaddrinfo E\w+ nowhere\.invalid$/.test(message),
  );
  answerFirst(1, response => {
    response.writeHead(200, {"content-length": 500}).write('{"jsonrpc"', () => response.destroy());
  });
  await assert.rejects(createClient().getCoverage(), ({message}: RpcError) =>
    /^http:\/\/127\.0\.0\.1:\d+\S*: the answer broke off: \w/.test(message),
  );
});

test("the error of a server that is busy has its code, its status, and the wait that it asks for", async () => {
  const refusal = '{"jsonrpc":"2.0","id":null,"error":{"code":-32005,"message":"the queue is full"}}';
  for (const [retryAfter, retryAfterMs] of [
    ["31", 31_000],
    ["soon", undefined],
  ] as const) {
    server.handler = (_, response) => response.writeHead(503, {"retry-after": retryAfter}).end(refusal);
    await assert.rejects(createClient().getCoverage(), error => {
      hasCode(-32005)(error);
      const {status, retryAfterMs: wait} = error as RpcError;
      assert.deepEqual([status, wait], [503, retryAfterMs]);
      return true;
    });
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

test("the page of a proxy that is busy is HTTP_STATUS, although no answer is so long", async () => {
  answerFirst(1, response => response.writeHead(503).end(" ".repeat(40_000)));
  await assert.rejects(createClient().getCoverage(), hasCode("HTTP_STATUS"));
});

test("an aborted call rejects at once, and its connection is closed", async () => {
  const abort = new AbortController();
  let closed: Promise<unknown> | undefined;
  server.handler = (_, response) => {
    closed = once(response, "close");
    abort.abort();
  };
  await assert.rejects(createClient().getCoverage({signal: abort.signal}), {name: "AbortError"});
  await closed;
  await assert.rejects(createClient().getCoverage({signal: abort.signal}), {name: "AbortError"});
  assert.equal(server.requests.length, 1);
});

test("headers go with every request, and options that are none are refused", async () => {
  server.handler = answerCalls(() => ({result: NO_COVERAGE}));
  await createClient({headers: {authorization: "Bearer 17"}}).getCoverage();
  assert.equal(server.requests[0]?.head.headers.authorization, "Bearer 17");
  const wrong: Partial<UrlOptions>[] = [
    {url: "ftp://127.0.0.1"},
    {url: "nowhere"},
    {url: "http://user:word@127.0.0.1"},
    {timeoutMs: 0},
    {timeoutMs: 2 ** 31},
  ];
  for (const options of wrong) assert.throws(() => createClient(options), TypeError);
  for (const missing of ["suite", "trustedRoot"])
    assert.throws(() => createClient({[missing]: undefined}), /expected the options suite and trustedRoot/);
});
