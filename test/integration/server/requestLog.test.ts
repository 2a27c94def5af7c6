/** --log-level debug, X-Request-Id and --trust-forwarded: what an operator sees of a request behind a proxy. */
import assert from "node:assert/strict";
import {after, before, test} from "node:test";
import {WorkFolder} from "../../support/chains/serviceChain.ts";
import {OwnService} from "../../support/http/ownService.ts";
import {RawConnection} from "../../support/http/rawConnection.ts";
import {CHAIN_CALL, proofText} from "../../support/http/wireRequests.ts";

const folder = new WorkFolder();
let service: OwnService;
let connection: RawConnection;

before(async () => {
  const db = await folder.importChain("db", 2, 2);
  const flags = ["--workers", "1", "--log-level", "debug", "--trust-forwarded", "127.0.0.1"];
  service = await OwnService.serve(["--db", db, ...flags]);
  connection = await RawConnection.open(service.port);
});

after(async () => {
  connection.destroy();
  await service.stop();
});

/** @returns the id that the answer has, and the line of the log */
async function ask(body: string, ...headers: readonly string[]) {
  const logged = service.stderr.length;
  const head = ["POST / HTTP/1.1", "Host: localhost", "Content-Type: application/json", ...headers];
  await connection.write([...head, `Content-Length: ${body.length}`, "", body].join("\r\n"));
  const {headers: told} = await connection.readAnswer();
  await service.until("a line of the log", () => service.stderr.includes("\n", logged));
  const {requestId, method, calls, cost, code, peer, bodyBytes, isAborted, msg} = JSON.parse(
    service.stderr.slice(logged),
  );
  return {
    told: told["x-request-id"],
    requestId,
    line: {method, calls, cost, code, peer, bodyBytes, isAborted, msg},
  };
}

test("a request's line has its method, cost, code and client, and the id that the caller gave", async () => {
  const common = {peer: "127.0.0.1", isAborted: false, msg: "request"};
  const one = await ask(proofText(1, 3), "X-Request-Id: trace-1:a/b");
  assert.deepEqual([one.told, one.requestId], ["trace-1:a/b", "trace-1:a/b"]);
  const bodyBytes = proofText(1, 3).length;
  assert.deepEqual(one.line, {method: "chain_getProof", calls: 1, cost: 4, code: 0, bodyBytes, ...common});
  const batch = await ask(`[${CHAIN_CALL},{"jsonrpc":"2.0","id":2,"method":"no"},${proofText(3)}]`);
  assert.equal(batch.told, undefined);
  const {bodyBytes: _, ...line} = batch.line;
  assert.deepEqual(line, {method: "batch", calls: 3, cost: 1, code: -32601, ...common});
  assert.equal((await ask('{"jsonrpc":"2.0","id":1,"method":"no"}')).line.method, "unknown");
  assert.equal((await ask("{")).line.code, -32700);
});

test("an X-Request-Id that a log should not have is replaced, and the answer tells by what", async () => {
  for (const bad of ["a b", "x".repeat(129), '"', "-"]) {
    const {told, requestId} = await ask(CHAIN_CALL, `X-Request-Id: ${bad}`);
    assert.equal(told, requestId);
    assert.match(String(told), /^[0-9a-z]+-[0-9a-z]+$/);
  }
});

test("behind a trusted proxy, the client is the address that the proxy wrote, and not one before it", async () => {
  const {line} = await ask(CHAIN_CALL, "X-Forwarded-For: 9.9.9.9", "X-Forwarded-For: 203.0.113.7");
  assert.equal(line.peer, "203.0.113.7");
});
