/** Pages of other origins in browsers, by the requests that these send (--cors). */
import assert from "node:assert/strict";
import {after, before, describe, test} from "node:test";
import {WorkFolder} from "../../support/chains/serviceChain.ts";
import {OwnService} from "../../support/http/ownService.ts";
import {encodePost, type RawAnswer, RawConnection} from "../../support/http/rawConnection.ts";
import {CHAIN_ANSWER, CHAIN_CALL, largeBatch, proofText} from "../../support/http/wireRequests.ts";
import {startDaemon} from "../../support/processes/daemon.ts";

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
    "access-control-expose-headers": "Retry-After",
    ...(origin === "*" ? {} : {vary: "Origin"}),
  };
}

function preflight(origin: string): string {
  return `OPTIONS / HTTP/1.1\r\nHost: localhost\r\nOrigin: ${origin}\r\nAccess-Control-Request-Method: POST\r\nAccess-Control-Request-Headers: content-type\r\n\r\n`;
}

const PREFLIGHT_HEADERS = {
  "access-control-allow-methods": "POST",
  "access-control-allow-headers": "Content-Type",
  "access-control-max-age": "86400",
};

describe("cross-origin requests", () => {
  let folder: WorkFolder;
  let db: string;

  before(async () => {
    folder = await WorkFolder.create();
    db = await folder.importChain("db", 2, 2);
  });

  after(() => folder.remove());

  async function serve(
    flags: readonly string[],
    use: (ask: (request: string) => Promise<RawAnswer>) => Promise<void>,
    env?: Readonly<Record<string, string>>,
  ): Promise<void> {
    const args = ["--db", db, "--workers", "1", ...flags];
    const daemon = await (env === undefined ? OwnService.serve(args) : startDaemon(args, {env}));
    const connection = await RawConnection.open(daemon.port);
    try {
      await use(async request => {
        await connection.write(request);
        return connection.readAnswer();
      });
    } finally {
      connection.destroy();
      await daemon.stop();
    }
  }

  test("without --cors no answer names an origin, and a preflight is refused", () =>
    serve([], async ask => {
      const refused = await ask(preflight(APP));
      assert.equal(refused.status, 405);
      assert.deepEqual(corsHeadersOf(refused), {});
      const answer = await ask(encodePost(CHAIN_CALL, `Origin: ${APP}\r\n`));
      assert.equal(answer.body, CHAIN_ANSWER);
      assert.deepEqual(corsHeadersOf(answer), {});
    }));

  test("a preflight of an allowed origin is answered with what it may send", () =>
    serve(["--cors", APP, "--cors", WALLET], async ask => {
      for (const origin of [APP, WALLET]) {
        const {status, body, headers} = await ask(preflight(origin));
        assert.equal(status, 204);
        assert.equal(body, "");
        assert.deepEqual(corsHeadersOf({status, body, headers}), {...allowing(origin), ...PREFLIGHT_HEADERS});
      }
    }));

  test("every answer to an allowed origin names it, at once, from a worker, in chunks and of errors", () =>
    serve(["--cors", APP], async ask => {
      const origin = `Origin: ${APP}\r\n`;
      const table: [string, number][] = [
        [encodePost(CHAIN_CALL, origin), 200],
        [encodePost(proofText(1), origin), 200],
        [encodePost(largeBatch(2), origin), 200],
        [encodePost("{", origin), 200],
        [encodePost('{"jsonrpc":"2.0","method":"chain_chainId"}', origin), 204],
        [`POST / HTTP/1.1\r\nHost: localhost\r\n${origin}Content-Length: 2\r\n\r\n{}`, 415],
        [`GET / HTTP/1.1\r\nHost: localhost\r\n${origin}\r\n`, 405],
      ];
      for (const [request, status] of table) {
        const answer = await ask(request);
        assert.equal(answer.status, status, request.slice(0, 200));
        assert.deepEqual(corsHeadersOf(answer), allowing(APP), request.slice(0, 200));
      }
    }));

  test("another origin, or none, is answered as without --cors, and caches are told that origins differ", () =>
    serve(["--cors", APP], async ask => {
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
    }));

  test("* allows every origin", () =>
    serve(["--cors", "*"], async ask => {
      const {status, headers, body} = await ask(preflight(STRANGER));
      assert.equal(status, 204);
      assert.deepEqual(corsHeadersOf({status, headers, body}), {...allowing("*"), ...PREFLIGHT_HEADERS});
      const answer = await ask(encodePost(CHAIN_CALL, `Origin: ${STRANGER}\r\n`));
      assert.deepEqual(corsHeadersOf(answer), allowing("*"));
    }));

  test("PROOFD_CORS takes several origins with commas between", () =>
    serve(
      [],
      async ask => {
        for (const origin of [APP, STRANGER]) {
          const answer = await ask(encodePost(CHAIN_CALL, `Origin: ${origin}\r\n`));
          assert.deepEqual(corsHeadersOf(answer), allowing(origin));
        }
      },
      {PROOFD_CORS: `${APP},${STRANGER}`},
    ));

  test("other paths have no such headers", () =>
    serve(["--cors", "*"], async ask => {
      const answer = await ask(`GET /metrics HTTP/1.1\r\nHost: localhost\r\nOrigin: ${APP}\r\n\r\n`);
      assert.equal(answer.status, 200);
      assert.deepEqual(corsHeadersOf(answer), {});
    }));
});
