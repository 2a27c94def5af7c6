/** Pages of other origins in browsers, by the requests that these send (--cors). */
import assert from "node:assert/strict";
import {after, before, test} from "node:test";
import {FrontService, FrontStore} from "../../support/http/frontService.ts";
import {encodePost, type RawAnswer} from "../../support/http/rawConnection.ts";
import {CHAIN_ANSWER, CHAIN_CALL, largeBatch, proofText} from "../../support/http/wireRequests.ts";

const APP = "https://app.example.org";
const WALLET = "chrome-extension://abcdefgh";
const STRANGER = "https://other.example.org";

/** What tells a browser who may read an answer. */
const CORS_HEADERS = [
  "access-control-allow-origin",
  "access-control-allow-methods",
  "access-control-allow-headers",
  "access-control-max-age",
  "access-control-expose-headers",
  "vary",
];

function corsHeadersOf({headers}: RawAnswer): Record<string, string> {
  return Object.fromEntries(Object.entries(headers).filter(([name]) => CORS_HEADERS.includes(name)));
}

function allowing(origin: string): Record<string, string> {
  return {
    "access-control-allow-origin": origin,
    "access-control-expose-headers": "Retry-After, X-Request-Id",
    ...(origin === "*" ? {} : {vary: "Origin"}),
  };
}

function preflight(origin: string): string {
  return `OPTIONS / HTTP/1.1\r\nHost: localhost\r\nOrigin: ${origin}\r\nAccess-Control-Request-Method: POST\r\nAccess-Control-Request-Headers: content-type\r\n\r\n`;
}

const PREFLIGHT_HEADERS = {
  "access-control-allow-methods": "POST",
  "access-control-allow-headers": "Content-Type, X-Request-Id",
  "access-control-max-age": "86400",
};

let store: FrontStore;
let some: FrontService;
let any: FrontService;

before(async () => {
  store = await FrontStore.create();
  some = await FrontService.start(await store.copy(), {}, {cors: [APP, WALLET]});
  any = await FrontService.start(await store.copy(), {}, {cors: ["*"]});
});

after(async () => {
  await some.stop();
  await any.stop();
});

test("a preflight of an allowed origin is answered with what it may send", async () => {
  for (const origin of [APP, WALLET]) {
    const {status, body, headers} = await some.exchange(preflight(origin));
    assert.equal(status, 204);
    assert.equal(body, "");
    assert.deepEqual(corsHeadersOf({status, body, headers}), {...allowing(origin), ...PREFLIGHT_HEADERS});
  }
});

test("every answer to an allowed origin names it, at once, from a worker, in chunks and of errors", async () => {
  const origin = `Origin: ${APP}\r\n`;
  const table: [string, number][] = [
    [encodePost(CHAIN_CALL, origin), 200],
    [encodePost(proofText(1), origin), 200],
    [encodePost(largeBatch(2), origin), 200],
    [encodePost("{", origin), 200],
    [encodePost('{"jsonrpc":"2.0","method":"chain_chainId"}', origin), 204],
    [`POST / HTTP/1.1\r\nHost: localhost\r\n${origin}Content-Length: 2\r\n\r\n{}`, 415],
    [`DELETE / HTTP/1.1\r\nHost: localhost\r\n${origin}\r\n`, 405],
  ];
  for (const [request, status] of table) {
    const answer = await some.exchange(request);
    assert.equal(answer.status, status, request.slice(0, 200));
    assert.deepEqual(corsHeadersOf(answer), allowing(APP), request.slice(0, 200));
  }
});

test("another origin, or none, is answered as without --cors, and caches are told that origins differ", async () => {
  const refused = await some.exchange(preflight(STRANGER));
  assert.equal(refused.status, 405);
  assert.deepEqual(corsHeadersOf(refused), {vary: "Origin"});
  for (const headers of ["", `Origin: ${STRANGER}\r\n`, `Origin: ${APP}.evil.org\r\n`, "Origin: null\r\n"]) {
    const answer = await some.exchange(encodePost(CHAIN_CALL, headers));
    assert.equal(answer.body, CHAIN_ANSWER);
    assert.deepEqual(corsHeadersOf(answer), {vary: "Origin"}, headers);
  }
});

test("* allows every origin", async () => {
  const {status, headers, body} = await any.exchange(preflight(STRANGER));
  assert.equal(status, 204);
  assert.deepEqual(corsHeadersOf({status, headers, body}), {...allowing("*"), ...PREFLIGHT_HEADERS});
  const answer = await any.exchange(encodePost(CHAIN_CALL, `Origin: ${STRANGER}\r\n`));
  assert.deepEqual(corsHeadersOf(answer), allowing("*"));
});

test("other paths have no such headers", async () => {
  const answer = await any.exchange(`GET /metrics HTTP/1.1\r\nHost: localhost\r\nOrigin: ${APP}\r\n\r\n`);
  assert.equal(answer.status, 200);
  assert.deepEqual(corsHeadersOf(answer), {});
});
