/** Pages of other origins in browsers, by the requests that these send (--cors). */
import assert from "node:assert/strict";
import {cp} from "node:fs/promises";
import {after, before, describe, test} from "node:test";
import {WorkFolder} from "../../support/chains/serviceChain.ts";
import {OwnService} from "../../support/http/ownService.ts";
import {encodePost, type RawAnswer, RawConnection} from "../../support/http/rawConnection.ts";
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

describe("cross-origin requests", () => {
  let folder: WorkFolder;
  let db: string;
  const ends: (() => Promise<void>)[] = [];
  /** Asks a service of two origins. */
  let ask: (request: string) => Promise<RawAnswer>;
  /** Asks a service of every origin. */
  let askOpen: (request: string) => Promise<RawAnswer>;

  before(async () => {
    folder = await WorkFolder.create();
    db = await folder.importChain("db", 2, 2);
    ask = await serve("--cors", APP, "--cors", WALLET);
    askOpen = await serve("--cors", "*");
  });

  after(async () => {
    for (const end of ends) await end();
    await folder.remove();
  });

  /** What asks a service with these flags, which ends after the last test. */
  async function serve(...flags: readonly string[]): Promise<(request: string) => Promise<RawAnswer>> {
    // LevelDB gives a store to one service at a time.
    const copy = folder.file(`copy-${ends.length}`);
    await cp(db, copy, {recursive: true});
    const daemon = await OwnService.serve(["--db", copy, ...flags]);
    const connection = await RawConnection.open(daemon.port);
    ends.push(async () => {
      connection.destroy();
      await daemon.stop();
    });
    return async request => {
      await connection.write(request);
      return connection.readAnswer();
    };
  }

  test("without --cors no answer names an origin, and a preflight is refused", async () => {
    const askClosed = await serve();
    const refused = await askClosed(preflight(APP));
    assert.equal(refused.status, 405);
    assert.deepEqual(corsHeadersOf(refused), {});
    const answer = await askClosed(encodePost(CHAIN_CALL, `Origin: ${APP}\r\n`));
    assert.equal(answer.body, CHAIN_ANSWER);
    assert.deepEqual(corsHeadersOf(answer), {});
  });

  test("a preflight of an allowed origin is answered with what it may send", async () => {
    for (const origin of [APP, WALLET]) {
      const {status, body, headers} = await ask(preflight(origin));
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
      const answer = await ask(request);
      assert.equal(answer.status, status, request.slice(0, 200));
      assert.deepEqual(corsHeadersOf(answer), allowing(APP), request.slice(0, 200));
    }
  });

  test("another origin, or none, is answered as without --cors, and caches are told that origins differ", async () => {
    const refused = await ask(preflight(STRANGER));
    assert.equal(refused.status, 405);
    assert.deepEqual(corsHeadersOf(refused), {vary: "Origin"});
    for (const headers of [
      "",
      `Origin: ${STRANGER}\r\n`,
      `Origin: ${APP}.evil.org\r\n`,
      "Origin: null\r\n",
    ]) {
      const answer = await ask(encodePost(CHAIN_CALL, headers));
      assert.equal(answer.body, CHAIN_ANSWER);
      assert.deepEqual(corsHeadersOf(answer), {vary: "Origin"}, headers);
    }
  });

  test("* allows every origin", async () => {
    const {status, headers, body} = await askOpen(preflight(STRANGER));
    assert.equal(status, 204);
    assert.deepEqual(corsHeadersOf({status, headers, body}), {...allowing("*"), ...PREFLIGHT_HEADERS});
    const answer = await askOpen(encodePost(CHAIN_CALL, `Origin: ${STRANGER}\r\n`));
    assert.deepEqual(corsHeadersOf(answer), allowing("*"));
  });

  test("PROOFD_CORS takes several origins with commas between", async () => {
    process.env.PROOFD_CORS = `${APP},${STRANGER}`;
    const askBoth = await serve().finally(() => delete process.env.PROOFD_CORS);
    for (const origin of [APP, STRANGER]) {
      const answer = await askBoth(encodePost(CHAIN_CALL, `Origin: ${origin}\r\n`));
      assert.deepEqual(corsHeadersOf(answer), allowing(origin));
    }
  });

  test("other paths have no such headers", async () => {
    const answer = await askOpen(`GET /metrics HTTP/1.1\r\nHost: localhost\r\nOrigin: ${APP}\r\n\r\n`);
    assert.equal(answer.status, 200);
    assert.deepEqual(corsHeadersOf(answer), {});
  });
});
