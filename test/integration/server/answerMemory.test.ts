/** Answers in reused memory, over real sockets: given back too early, it would change under a slow reader. */
import assert from "node:assert/strict";
import {after, before, test} from "node:test";
import {LaneId} from "../../../server/request/requestCalls.ts";
import {KEPT_MEMORIES} from "../../../workers/messages/answerMemory.ts";
import {ABSENT_ACCOUNT, ACCOUNTS} from "../../support/chains/serviceChain.ts";
import {FrontService, FrontStore} from "../../support/http/frontService.ts";
import {encodePost, RawConnection} from "../../support/http/rawConnection.ts";
import {type ProveCall, proveCalls} from "../../support/stores/proveCalls.ts";
import {once, waitUntil} from "../../support/wait.ts";

/** Bytes that the kernel may hold between a server and a client that does not read, at most. */
const SOCKET_BYTES = 12e6;
/** Each holds several memories. Together they would hold more than may be kept. */
const SLOW_READERS = 4;
/** What a slow reader takes, and how often: one that takes nothing for 10 s is cut, however busy the machine is. */
const SIP_BYTES = 1e6;
const SIP_EVERY_MS = 1000;

interface Batch {
  readonly body: string;
  /** Made in memory of its own, without HTTP. */
  readonly answer: string;
}

let store: FrontStore;
let service: FrontService;

before(async () => {
  store = await FrontStore.create();
  // Nothing is turned away, and nothing given up.
  const limits = {queueCost: 1e6, timeoutMs: 3_600_000};
  service = await FrontService.start(await store.copy(), limits, {}, 2);
});

after(() => service.stop());

/** Calls that differ from those of every other batch with another `first`. */
async function createBatch(first: number, callCount: number, keyCount: number): Promise<Batch> {
  const calls: ProveCall[] = Array.from({length: callCount}, (_, at) => ({
    block: (first + at) % 3,
    address: at % 16 === 15 ? ABSENT_ACCOUNT : (ACCOUNTS[(first + at) % ACCOUNTS.length] as string),
    slots: Array.from({length: keyCount}, (_, key) => BigInt(first + key)),
  }));
  const texts = calls.map(({block, address, slots}, id) => {
    const params = [address, slots.map(slot => `0x${slot.toString(16)}`), `0x${block.toString(16)}`];
    return JSON.stringify({jsonrpc: "2.0", id, method: "chain_getProof", params});
  });
  return {body: `[${texts.join(",")}]`, answer: `[${(await proveCalls(service.engine, calls)).join(",")}]`};
}

async function withConnection(use: (connection: RawConnection) => Promise<void>): Promise<void> {
  const connection = await RawConnection.open(service.port);
  try {
    await use(connection);
  } finally {
    connection.destroy();
  }
}

/** Not assert.equal: it would print megabytes. */
function requireSame(answer: string, expected: string): void {
  assert.ok(answer === expected, `${answer.length} bytes, and not the ${expected.length} expected`);
}

async function ask(connection: RawConnection, {body, answer}: Batch): Promise<void> {
  await connection.write(encodePost(body));
  requireSame((await connection.readAnswer()).body, answer);
}

test("slow, vanishing and quick readers of answers of all sizes each get exactly their own", async () => {
  const {memories} = service.engine;
  const {spares} = memories;
  const memoryCount = spares.length;
  const quick: Batch[] = [];
  for (const [callCount, keyCount] of [
    [1, 0],
    [3, 1],
    [100, 0],
    [70, 2],
    [5, 30],
    [1, 200],
    [300, 0],
    [12, 3],
  ] as const)
    quick.push(await createBatch(quick.length * 7, callCount, keyCount));
  const large = await Promise.all([createBatch(100, 80, 20), createBatch(200, 160, 10)]);
  for (const {answer} of large) assert.ok(answer.length > 1.5 * SOCKET_BYTES, `${answer.length} bytes`);

  const slow = new Set<RawConnection>();
  let mayEnd = false;
  /** On a busy machine it gets several answers. */
  const readSlowly = async (batch: Batch): Promise<void> => {
    do
      await withConnection(async connection => {
        slow.add(connection);
        connection.sip(SIP_BYTES);
        await ask(connection, batch);
        slow.delete(connection);
      });
    while (!mayEnd);
  };
  const sips = setInterval(() => {
    for (const one of slow) one.sip(mayEnd ? Number.POSITIVE_INFINITY : SIP_BYTES);
  }, SIP_EVERY_MS);
  const reading = Array.from({length: SLOW_READERS}, (_, reader) =>
    readSlowly(large[reader % large.length] as Batch),
  );
  const wait = () =>
    waitUntil("more answers than may keep their memory", () => memories.kept === KEPT_MEMORIES);
  const answerQuickly = () =>
    Promise.all(
      Array.from({length: 12}, (_, reader) =>
        withConnection(async connection => {
          for (let at = 0; at < quick.length; at++) {
            await ask(connection, quick[(reader + at) % quick.length] as Batch);
            assert.ok(memories.kept <= KEPT_MEMORIES);
          }
        }),
      ),
    );
  const vanish = async (reader: number) => {
    for (const batch of [...large, ...quick]) {
      await withConnection(async connection => {
        await connection.write(encodePost(batch.body));
        // In mid-answer, or before it.
        if (reader % 2 === 0) await once(connection.socket, "data");
      });
    }
  };
  await wait();
  await Promise.all([answerQuickly(), vanish(0), vanish(1), vanish(2)]);
  await wait();
  assert.ok((await service.readMetric("proofd_held_bytes")) > 0, "the slow ones still wait");
  await answerQuickly();
  mayEnd = true;
  await Promise.all(reading);
  clearInterval(sips);

  assert.equal(service.front.dispatcher.queuedCost(LaneId.PROOF), 0);
  await withConnection(async connection => {
    // All memory comes back, also from the tasks of those who went away.
    await waitUntil("all memory to be given back", () => spares.length === memoryCount);
    for (const batch of quick) await ask(connection, batch);
    await waitUntil("all memory to be given back", () => spares.length === memoryCount);
  });
});
