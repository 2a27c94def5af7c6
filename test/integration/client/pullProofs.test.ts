/** Pulls of many proofs from a proofd: order, memory, cursors, and what happens when something fails on the way. */
import assert from "node:assert/strict";
import {after, before, test} from "node:test";
import {
  createProofClient,
  type ProofRequest,
  type PulledProof,
  type PullParameters,
  pullProofs,
  RpcError,
  sha256Suite,
  verifyMultiProof,
} from "../../../client/client.ts";
import {ABSENT_ACCOUNT, ACCOUNTS} from "../../support/chains/serviceChain.ts";
import {ForwardingProxy} from "../../support/http/forwardingProxy.ts";
import {FINALIZED, ProvenService} from "../../support/http/provenService.ts";

/** Accounts with 0 to 5 keys, some of them absent. */
const REQUESTS: readonly ProofRequest[] = Array.from({length: 60}, (_, at) => ({
  address: at % 9 === 0 ? ABSENT_ACCOUNT : (ACCOUNTS[at % ACCOUNTS.length] as string),
  storageKeys: ["0x1", "0x2", "0x3", "0x4", "0x5"].slice(0, at % 6),
}));

let service: ProvenService;
before(async () => {
  service = await ProvenService.start();
});
after(() => service.stop());

function createClient(url = service.daemon.url) {
  return createProofClient({
    url,
    suite: sha256Suite,
    trustedRoot: block => service.root(Number(block)),
  });
}

function pull(parameters: Partial<PullParameters> = {}, client = createClient()) {
  return pullProofs(client, {requests: REQUESTS, keysPerProof: 20, retryMs: 0, ...parameters});
}

async function collect(proofs: AsyncIterable<PulledProof>): Promise<PulledProof[]> {
  const all: PulledProof[] = [];
  for await (const one of proofs) all.push(one);
  return all;
}

/** What is proved, without the cursor. */
function values(proofs: readonly PulledProof[]): unknown[] {
  return proofs.map(({address, account, slots, block}) => [address, account, slots, block]);
}

test("a pull gives every entry in order, as single proofs at the same block do", async () => {
  const client = createClient();
  const [pulled, single] = await Promise.all([
    collect(pull()),
    Promise.all(REQUESTS.map(request => client.getProof({...request, block: FINALIZED}))),
  ]);
  assert.deepEqual(
    values(pulled),
    single.map(({account, slots, block}, at) => [REQUESTS[at]?.address, account, slots, block]),
  );
  assert.equal(new Set(pulled.map(({cursor}) => cursor)).size, REQUESTS.length);
});

test("the entries of one multiproof carry its bytes, which prove them again", async () => {
  const pulled = await collect(pull());
  const proofs = [...new Set(pulled.map(({proof}) => proof))];
  assert.ok(proofs.length > 2);
  const again = proofs.flatMap(proof => {
    const entries = pulled.filter(one => one.proof === proof);
    return verifyMultiProof(sha256Suite, service.root(FINALIZED), entries, proof);
  });
  assert.deepEqual(
    again,
    pulled.map(({account, slots}) => ({account, slots})),
  );
});

test("a pull at a named block proves that block", async () => {
  for (const [block, number] of [
    [2, 2n],
    ["earliest", 0n],
  ] as const) {
    const [first] = await collect(pull({block, requests: REQUESTS.slice(1, 2)}));
    assert.equal(first?.block, number);
  }
});

test("from each cursor a pull goes on at the same block with the next entry", async () => {
  const all = await collect(pull({block: 3}));
  for (const at of [0, 7, 31, 58, 59]) {
    const {cursor} = all[at] as PulledProof;
    assert.deepEqual(values(await collect(pull({cursor}))), values(all.slice(at + 1)));
  }
});

test("an entry with more keys than a proof takes comes in parts, and a pull goes on between them", async () => {
  const storageKeys = Array.from({length: 50}, (_, key) => `0x${key.toString(16)}`);
  const requests = [{address: ACCOUNTS[3] as string, storageKeys}];
  const parts = await collect(pull({requests}));
  assert.deepEqual(
    parts.map(part => part.slots.length),
    [19, 19, 12],
  );
  assert.deepEqual(
    parts.flatMap(part => part.storageKeys),
    storageKeys,
  );
  const rest = await collect(pull({requests, cursor: parts[0]?.cursor as string}));
  assert.deepEqual(values(rest), values(parts.slice(1)));
});

test("a pull takes from an endless source only what its reader has room for, and closes it", async () => {
  let taken = 0;
  let isClosed = false;
  async function* endless(): AsyncGenerator<ProofRequest> {
    try {
      for (;;) yield REQUESTS[taken++ % REQUESTS.length] as ProofRequest;
    } finally {
      isClosed = true;
    }
  }
  let read = 0;
  for await (const _ of pull({requests: endless(), keysPerProof: 10, ahead: 3})) {
    read++;
    // Three pieces of at most ten entries, one that is being gathered, and the entry that did not fit.
    assert.ok(taken <= read + 4 * 10 + 1, `${taken} taken, ${read} read`);
    if (read === 500) break;
  }
  assert.ok(isClosed);
});

test("a source that waits for its reader gets what it waits for", async () => {
  let release: (() => void) | undefined;
  async function* waiting(): AsyncGenerator<ProofRequest> {
    yield* REQUESTS.slice(0, 12);
    await new Promise<void>(resolve => {
      release = resolve;
    });
    yield* REQUESTS.slice(12, 20);
  }
  let read = 0;
  for await (const _ of pull({requests: waiting(), keysPerProof: 6})) {
    read++;
    release?.();
  }
  assert.equal(read, 20);
});

test("what a source throws comes after all proofs before it", async () => {
  function* failing(): Generator<ProofRequest> {
    yield* REQUESTS.slice(0, 30);
    throw new Error("the file ends here");
  }
  const read: PulledProof[] = [];
  const reading = async () => {
    for await (const one of pull({requests: failing(), keysPerProof: 8})) read.push(one);
  };
  await assert.rejects(reading(), /the file ends here/);
  // The last entries were not a whole piece yet.
  assert.ok(read.length >= 20, String(read.length));
});

test("a pull that fails goes on from the cursor of its last entry, through a server that comes back", async () => {
  const proxy = await ForwardingProxy.to(service.daemon.url);
  try {
    let isDown = false;
    proxy.change = async ({call}, forward) => {
      const isRefused = isDown && call.method === "chain_getMultiProof";
      return isRefused ? {status: 500, type: "text/plain", body: Buffer.of()} : forward();
    };
    const client = createClient(proxy.url.href);
    const read: PulledProof[] = [];
    const readOn = async (cursor?: string) => {
      for await (const one of pull(cursor === undefined ? {} : {cursor}, client)) {
        read.push(one);
        isDown = read.length > 10 && cursor === undefined;
      }
    };
    await assert.rejects(readOn(), error => error instanceof RpcError && error.status === 500);
    assert.ok(read.length > 10 && read.length < REQUESTS.length);
    isDown = false;
    await readOn(read.at(-1)?.cursor);
    assert.deepEqual(values(read), values(await collect(pull())));
  } finally {
    await proxy.stop();
  }
});

test("an aborted pull ends at once, also while its source is silent", async () => {
  const abort = new AbortController();
  async function* silent(): AsyncGenerator<ProofRequest> {
    yield* REQUESTS.slice(0, 20);
    abort.abort(new Error("enough"));
    await new Promise(() => {});
  }
  await assert.rejects(collect(pull({requests: silent(), signal: abort.signal})), /enough/);
  await assert.rejects(collect(pull({signal: AbortSignal.abort()})), {name: "AbortError"});
});

test("a cursor may come with its own block, and with no other", async () => {
  const at = async (block: PullParameters["block"] & {}) =>
    values(await collect(pull({cursor: "1.3.0.0", block, requests: REQUESTS.slice(0, 1)})));
  assert.deepEqual(await at(3), await at(3n));
  for (const block of [2, "finalized"] as const)
    await assert.rejects(at(block), {message: `expected block 3 as in the cursor, got ${block}`});
});

test("parameters that are none are a TypeError", async () => {
  const cursor = "1.3.0.0";
  for (const wrong of [{keysPerProof: 1}, {ahead: 0}, {cursor: "0x3"}, {cursor, block: 2}])
    await assert.rejects(collect(pull(wrong)), TypeError, JSON.stringify(wrong));
  await assert.rejects(collect(pull({cursor: "1.3.99.0"})), TypeError);
});
