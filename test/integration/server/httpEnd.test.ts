/** HTTP when the service ends: which calls are still answered, and what cannot keep it from ending. */
import assert from "node:assert/strict";
import {execFileSync} from "node:child_process";
import {before, describe, test} from "node:test";
import {fileURLToPath} from "node:url";
import {WorkFolder} from "../../support/chains/serviceChain.ts";
import {OwnService} from "../../support/http/ownService.ts";
import {encodePost, RawConnection} from "../../support/http/rawConnection.ts";
import {answerText, Upstream} from "../../support/http/upstream.ts";
import {CHAIN_ANSWER, CHAIN_CALL, largeBatch, proofCall} from "../../support/http/wireRequests.ts";
import {runProofd, startDaemon} from "../../support/processes/daemon.ts";
import {once, waitUntil} from "../../support/wait.ts";

const HUNG_PROCESS = fileURLToPath(new URL("../../support/processes/hungProcess.js", import.meta.url));
const ESTIMATE_CALL = {jsonrpc: "2.0", id: 2, method: "chain_estimateGas", params: [{}]};
const ESTIMATE = '{"jsonrpc":"2.0","id":ID,"result":"0x5208"}';
/** What the service says when requests keep it longer than it waits for them. */
const CUT = /requests are still unfinished; closing their connections/;

describe("HTTP at the end of the service", () => {
  const folder = new WorkFolder();
  let db: string;

  before(async () => {
    db = await folder.importChain("db", 2, 2);
  });

  /** A reader that stops in the middle of an answer. */
  async function leaveStuck(port: number): Promise<RawConnection> {
    const stuck = await RawConnection.open(port);
    await stuck.write(encodePost(largeBatch(100)));
    await once(stuck.socket, "data");
    stuck.socket.pause();
    return stuck;
  }

  test("after SIGTERM calls under way are answered, new requests are 503, new connections refused, exit 0", async t => {
    const upstream = new Upstream();
    await upstream.start();
    t.after(() => upstream.stop());
    const gateway = ["--estimate-workers", "0", "--gateway", upstream.url.href];
    const daemon = await startDaemon(["--db", db, "--workers", "1", ...gateway]);
    const {port} = daemon;
    const idle = await RawConnection.open(port);
    await idle.write(encodePost(CHAIN_CALL));
    assert.equal((await idle.readAnswer()).body, CHAIN_ANSWER);
    const probe = await RawConnection.open(port);
    const busy = await RawConnection.open(port);
    // Under way until the test lets the upstream answer.
    const answers: (() => void)[] = [];
    upstream.handler = (request, response) => answers.push(() => answerText(ESTIMATE)(request, response));
    await busy.write(encodePost(JSON.stringify([proofCall(1), ESTIMATE_CALL])));
    await waitUntil("an answer", () => answers.length > 0);
    daemon.child.kill("SIGTERM");
    await daemon.waitForStderr(/stopping/);
    await probe.write("GET /readyz HTTP/1.1\r\nHost: localhost\r\n\r\n");
    const unready = await probe.readAnswer();
    assert.equal(unready.status, 503);
    await idle.write(encodePost(CHAIN_CALL));
    const refused = await idle.readAnswer();
    assert.equal(refused.status, 503);
    assert.equal(refused.headers.connection, "close");
    assert.notEqual(refused.headers["retry-after"], undefined);
    assert.equal(JSON.parse(refused.body).error.code, -32005);
    await idle.closed;
    await assert.rejects(RawConnection.open(port), /ECONNREFUSED/);
    answers[0]?.();
    const [proof, estimate] = JSON.parse((await busy.readAnswer()).body);
    assert.notEqual(proof.result, undefined);
    assert.equal(estimate.result, "0x5208");
    const {code} = await daemon.finished;
    assert.equal(code, 0);
  });

  test("calls that the node answers too late get an error that says whether it may have them", async t => {
    const upstream = new Upstream();
    await upstream.start();
    t.after(() => upstream.stop());
    const gateway = ["--gateway", upstream.url.href, "--gateway-methods", "eth_sendRawTransaction"];
    const service = await OwnService.serve(["--db", db, "--workers", "1", ...gateway]);
    upstream.handler = () => {};
    const busy = await RawConnection.open(service.port);
    const send = {jsonrpc: "2.0", id: 1, method: "eth_sendRawTransaction", params: ["0x02"]};
    await busy.write(encodePost(JSON.stringify([proofCall(1), ...Array(8).fill(send)])));
    await waitUntil("calls at the node", () => upstream.requests.length === 6);
    // The answers are in time. The end may not be, on a slow machine.
    const stopped = service.stop(1500).catch(() => service.stop());
    const [proof, ...sent] = JSON.parse((await busy.readAnswer()).body);
    await stopped;
    assert.notEqual(proof.result, undefined);
    const errors: {code: number; message: string}[] = sent.map(({error}: {error: object}) => error);
    const message =
      "the gateway did not answer eth_sendRawTransaction before this node shut down. It may have received the call";
    assert.deepEqual(errors.slice(0, 6), Array(6).fill({code: -32002, message}));
    assert.equal(errors.length, 8);
    for (const error of errors.slice(6))
      assert.match(error.message, /^the service is stopping|did not answer/);
    assert.equal(upstream.requests.length, 6);
  });

  test("SIGINT does the same, and an idle service waits for nothing", async () => {
    const daemon = await startDaemon(["--db", db, "--workers", "1"]);
    const {code, stderr} = await daemon.stop("SIGINT");
    assert.equal(code, 0);
    assert.match(stderr, /"signal":"SIGINT"/);
    assert.doesNotMatch(stderr, CUT);
  });

  test("a reader that never reads cannot keep the service: its connection is cut", async () => {
    const service = await OwnService.serve(["--db", db, "--workers", "1"]);
    const stuck = await leaveStuck(service.port);
    // The cut comes in time, and the connections' end a moment later.
    await assert.rejects(service.stop(100), /still open: requests/);
    await service.stop();
    assert.match(service.stderr, CUT);
    stuck.destroy();
  });

  test("a process with a thread that hangs in a system call ends by force, and names the part that did not stop", async () => {
    const pipe = folder.file("pipe");
    execFileSync("mkfifo", [pipe]);
    const {code, signal, stderr} = await runProofd([pipe], {main: HUNG_PROCESS});
    assert.deepEqual([code, signal], [null, "SIGKILL"]);
    assert.equal(
      stderr,
      "error: expected an end within 100 ms; still open: the thread; the process ends itself with SIGKILL\n",
    );
  });

  test("a second signal ends it at once, as it would have without a handler", async () => {
    const daemon = await startDaemon(["--db", db, "--workers", "1"]);
    const stuck = await leaveStuck(daemon.port);
    daemon.child.kill("SIGTERM");
    await daemon.waitForStderr(/stopping/);
    assert.equal((await daemon.stop("SIGINT")).signal, "SIGINT");
    stuck.destroy();
  });
});
