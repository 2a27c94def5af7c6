/** deploy/haproxy.cfg before services that are not at the same block: balance by height, cached proofs, a rolling restart. */
import assert from "node:assert/strict";
import {after, before, test} from "node:test";
import {setTimeout as pause} from "node:timers/promises";
import {ACCOUNTS, createLines, WorkFolder} from "../support/chains/serviceChain.ts";
import {OwnService} from "../support/http/ownService.ts";
import {proofAtCall} from "../support/http/wireRequests.ts";
import {ask, askPath, Edge, lacksHaproxy} from "../support/processes/edge.ts";
import {findPorts} from "../support/processes/freePorts.ts";
import {notRun} from "../support/processes/notRun.ts";
import {importLines} from "../support/stores/importedStore.ts";
import {LOOK_MS, waitUntil} from "../support/wait.ts";

const HIGH = 6;
const LOW = 4;
const ONE = ACCOUNTS[0] as string;
/** The blocks are from 2023. */
const ANY_LAG = ["lag=60", "lag=999999999"] as const;
const QUICK_CHECKS = ["check inter 1s", "check inter 100ms"] as const;

let lack: string | undefined;
const folder = new WorkFolder();
let edge: Edge;
let services: OwnService[];

/** Ports that a service gets again after a restart. */
let ports: readonly number[];

function serve(db: string, port: number | undefined): Promise<OwnService> {
  return OwnService.serve(["--db", folder.file(db), "--balanced", "--workers", "1", "--port", `${port}`]);
}

before(async () => {
  lack = lacksHaproxy();
  if (lack !== undefined) return;
  await folder.importChain("high", HIGH, HIGH);
  await folder.importChain("low", LOW, LOW);
  ports = await findPorts(3);
  services = [await serve("high", ports[0]), await serve("low", ports[1])];
  edge = await Edge.before(folder, ports.slice(0, 2), [ANY_LAG, QUICK_CHECKS]);
  after(async () => {
    await edge.stop();
    for (const service of services) await service.stop();
  });
});

async function countProofs(...some: readonly OwnService[]): Promise<number> {
  const counts = await Promise.all(some.map(one => one.readMetric('proofd_proved_total{kind="account"}')));
  return counts.reduce((sum, count) => sum + count, 0);
}

test("no client sees an error for a block that one of two services has", async t => {
  if (lack !== undefined) return notRun(t, lack);
  const session = edge.openHttp2("127.0.0.21");
  const calls = Array.from({length: 60}, (_, id) => proofAtCall(id, ONE, ["0x1"], `0x${HIGH - (id % 4)}`));
  const before = await countProofs(...services);
  const answers = await Promise.all(calls.map(call => ask(session, JSON.stringify(call))));
  for (const [id, {status, body}] of answers.entries()) {
    assert.equal(status, 200, String(body));
    const {result} = JSON.parse(String(body));
    assert.equal(result.block.number, `0x${HIGH - (id % 4)}`);
  }
  const batch = await ask(session, JSON.stringify(calls.slice(0, 4)));
  assert.equal(batch.status, 200);
  // Both were asked: blocks up to LOW are proved by either one.
  assert.equal((await countProofs(...services)) - before, calls.length + 4);
  assert.ok((await countProofs(services[1] as OwnService)) > 0);
  const ahead = await ask(session, JSON.stringify(proofAtCall(1, ONE, [], `0x${HIGH + 1}`)));
  assert.equal(ahead.status, 503);
  assert.equal(ahead.headers["retry-after"], "1");
  assert.match(String(ahead.headers["x-proofd-head"]), /^0x[46]$/);
  session.close();
});

test("a proof by GET comes from HAProxy's cache from the second time on, and errors never do", async t => {
  if (lack !== undefined) return notRun(t, lack);
  const session = edge.openHttp2("127.0.0.22");
  const path = `/v1/proof/0x${HIGH}/${ONE}?slots=0x1,0x2`;
  const first = await askPath(session, path);
  assert.equal(first.status, 200);
  assert.equal(first.headers["cache-control"], "public, max-age=3600");
  const before = await countProofs(...services);
  for (let times = 0; times < 10; times++) {
    const again = await askPath(session, path);
    assert.deepEqual([again.status, again.body, again.headers.etag], [200, first.body, first.headers.etag]);
    assert.notEqual(again.headers.age, undefined);
  }
  const known = await askPath(session, path, {"if-none-match": String(first.headers.etag)});
  assert.equal(known.status, 304);
  const zipped = await askPath(session, path, {"accept-encoding": "gzip"});
  assert.equal(zipped.headers["content-encoding"], "gzip");
  // What HAProxy has compressed has a weak tag. It is the same proof.
  const weak = String(zipped.headers.etag);
  assert.equal((await askPath(session, path, {"if-none-match": weak})).status, 304, weak);
  assert.equal(await countProofs(...services), before);
  for (const [wrong, status] of [
    [`/v1/proof/0x${HIGH + 1}/${ONE}`, 503],
    ["/v1/proof/0x1/0x12", 400],
    ["/v1/other", 404],
    ["/readyz", 404],
  ] as const)
    for (let times = 0; times < 2; times++) {
      const answer = await askPath(session, wrong);
      assert.deepEqual([answer.status, answer.headers.age], [status, undefined], wrong);
    }
  session.close();
});

test("services that are restarted one after the other under load lose no request", async t => {
  if (lack !== undefined) return notRun(t, lack);
  const session = edge.openHttp2("127.0.0.23");
  let isOver = false;
  let count = 0;
  const asking = async (client: number): Promise<void> => {
    for (let id = client; !isOver; id += 4) {
      const block = `0x${id % (LOW + 1)}`;
      const {status, body} = await ask(session, JSON.stringify(proofAtCall(id, ONE, ["0x1"], block)));
      assert.equal(status, 200, String(body));
      assert.equal(JSON.parse(String(body)).result.block.number, block);
      count++;
      await pause(2);
    }
  };
  const restarting = async (): Promise<void> => {
    for (const [at, db] of ["high", "low"].entries()) {
      await (services[at] as OwnService).stop();
      services[at] = await serve(db, ports[at]);
      // The next one only when HAProxy sends requests here again.
      await waitUntil("HAProxy to ask it", async () => (await countProofs(services[at] as OwnService)) > 0);
    }
  };
  const restarted = restarting().finally(() => {
    isOver = true;
  });
  await Promise.all([restarted, ...[0, 1, 2, 3].map(asking)]);
  assert.ok(count > 20);
  session.close();
});

test("a service whose newest block is too old is asked only if all others are older too or gone", async t => {
  if (lack !== undefined) return notRun(t, lack);
  const timestamp = `0x${Math.floor(Date.now() / 1000).toString(16)}`;
  await importLines(
    folder.file("young"),
    createLines(0, LOW).map(line => ({...line, timestamp})),
    {finalized: LOW},
  );
  const [young, old] = [await serve("young", ports[2]), services[1] as OwnService];
  const agedEdge = await Edge.before(folder, [young.port, old.port], [["lag=60", "lag=3600"], QUICK_CHECKS]);
  const session = agedEdge.openHttp2("127.0.0.24");
  const prove = async (): Promise<string> => {
    const {status, body} = await ask(session, JSON.stringify(proofAtCall(1, ONE)));
    assert.equal(status, 200, String(body));
    return JSON.parse(String(body)).result.block.number;
  };
  // HAProxy takes all for healthy until its first checks have failed.
  for (let before = -1, now = 0; before !== now; ) {
    before = now;
    for (let times = 0; times < 4; times++) await prove();
    await pause(LOOK_MS * 5);
    now = await countProofs(old);
  }
  const before = await countProofs(old);
  for (let times = 0; times < 10; times++) await prove();
  assert.equal(await countProofs(old), before);
  await young.stop();
  assert.equal(await prove(), `0x${LOW}`);
  assert.equal(await countProofs(old), before + 1);
  session.close();
  await agedEdge.stop();
});
