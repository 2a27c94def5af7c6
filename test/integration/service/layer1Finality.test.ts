/** What the rollup contract on a real layer 1 (anvil) says is finalized here, also if it or its nodes say something wrong. */
import assert from "node:assert/strict";
import {after, before, test} from "node:test";
import {setTimeout as pause} from "node:timers/promises";
import {pino} from "pino";
import {type RunningFinality, startFinality} from "../../../service/finality/finality.ts";
import type {Layer1Settings} from "../../../service/finality/layer1Finality.ts";
import type {NodesSettings} from "../../../sync/rpc/nodes.ts";
import type {DifferenceLine} from "../../support/chains/differenceLine.ts";
import {rootOf} from "../../support/chains/finalityEvents.ts";
import {ACCOUNTS, createLine, createLines, hashOfBlock} from "../../support/chains/serviceLines.ts";
import {Upstream} from "../../support/http/upstream.ts";
import {Layer1} from "../../support/layer1/rollupContract.ts";
import {notRun} from "../../support/processes/notRun.ts";
import {checkStore} from "../../support/stores/checkedStore.ts";
import {TemporaryStore} from "../../support/stores/temporaryStore.ts";

const POLL_MS = 50;
const LOOK_MS = 20;
/** Contradictions are read three times. */
const AGAIN = 'node.*it is read again from the last recorded finalization on"';

let layer1: Layer1 | string;

before(async () => {
  layer1 = await Layer1.start();
});

after(async () => {
  if (layer1 instanceof Layer1) await layer1.stop();
});

/** Finality of one store by one contract. */
class Followed {
  readonly store: TemporaryStore;
  readonly contract: Layer1;
  /** Its log, a line of JSON each. */
  log = "";
  private running: RunningFinality | undefined;
  private readonly looks = new Set<() => void>();

  constructor(store: TemporaryStore, contract: Layer1) {
    this.store = store;
    this.contract = contract;
  }

  get status(): RunningFinality["status"] {
    return (this.running as RunningFinality).status;
  }

  /** Of the block held. */
  root(block: number): Uint8Array {
    const held = this.store.engine.chain.readBlock(block);
    return "stateRoot" in held ? held.stateRoot : assert.fail(held.detail);
  }

  /** Layer 1 finalizes these blocks with the roots held here, unless it is given another. @returns its block */
  async finalize(
    start: number,
    end: number,
    final = this.root(end),
    parent = this.root(start - 1),
  ): Promise<number> {
    const {blockNumber} = await this.contract.finalize(start, end, parent, final);
    return Number(blockNumber);
  }

  start(
    settings: Partial<Layer1Settings> = {},
    urls = [this.contract.anvil.url],
    layer2?: readonly string[],
  ): void {
    this.log = "";
    const write = (line: string): void => {
      this.log += line;
      for (const look of this.looks) look();
    };
    const contract = Buffer.from(this.contract.address.slice(2), "hex");
    const rollup = {contract, from: undefined, depth: undefined, root: undefined, ...settings};
    const options = {
      source: "l1",
      nodes: nodesOf(urls),
      layer2: layer2 === undefined ? undefined : nodesOf(layer2),
      rollup,
      pollMs: POLL_MS,
    } as const;
    const {engine} = this.store;
    this.running = startFinality(options, engine, pino({level: "info", base: null}, {write}));
    engine.chain.onChange(() => {
      for (const look of this.looks) look();
    });
  }

  async stop(): Promise<void> {
    await this.running?.stop();
    this.running = undefined;
  }

  /** Opens the store again. */
  async restart(settings: Partial<Layer1Settings> = {}, urls?: string[]): Promise<void> {
    await this.stop();
    await this.store.reopen();
    this.start(settings, urls);
  }

  async finalizedAt(block: number): Promise<void> {
    await this.until(() => this.finalized === block);
  }

  async logged(line: RegExp): Promise<void> {
    await this.until(() => line.test(this.log));
  }

  get finalized(): number {
    return this.store.engine.chain.head().finalized ?? -1;
  }

  get ends(): number[] {
    return this.store.engine.chain.listFinalizations(0, 100).map(({endBlock}) => endBlock);
  }

  /** Looks after each change of the chain and each line of the log. */
  private until(isThere: () => boolean): Promise<void> {
    return new Promise(resolve => {
      const look = (): void => {
        if (!isThere()) return;
        this.looks.delete(look);
        resolve();
      };
      this.looks.add(look);
      look();
    });
  }
}

function nodesOf(urls: readonly string[]): NodesSettings {
  return {urls, headers: {}, timeoutMs: 10_000, maxAnswerBytes: 1 << 20};
}

/** A test with its own contract, and a store of blocks 0 to `latest` of which none is finalized. */
function layer1Test(
  title: string,
  latest: number,
  work: (followed: Followed) => Promise<void>,
  suite?: "sha256" | "poseidon2",
): void {
  test(title, async t => {
    if (typeof layer1 === "string") return notRun(t, layer1);
    const store = await TemporaryStore.create(suite);
    const followed = new Followed(store, await layer1.deploy());
    try {
      await store.mustImport(createLines(0, latest));
      await work(followed);
    } finally {
      await followed.stop();
      await store.close();
    }
  });
}

interface ProxiedCall {
  readonly method: string;
  readonly params: readonly unknown[];
}

interface ProxiedAnswer {
  readonly result?: unknown;
}

/** Answers with what layer 1 answers, after `change`. */
async function withProxy(
  {anvil}: Layer1,
  change: (call: ProxiedCall, result: unknown) => unknown,
  work: (url: string) => Promise<void>,
): Promise<void> {
  const proxy = new Upstream();
  proxy.handler = ({call, body}, response) => {
    const calls: readonly ProxiedCall[] = [call].flat();
    void fetch(anvil.url, {method: "POST", headers: {"content-type": "application/json"}, body})
      .then(answer => answer.json() as Promise<ProxiedAnswer | ProxiedAnswer[]>)
      .then(answer => {
        const answers = [answer].flat().map((one, at) => {
          const changed = change(calls[at] as ProxiedCall, one.result);
          return changed instanceof Error
            ? {...one, result: undefined, error: {code: -32005, message: changed.message}}
            : {...one, result: changed};
        });
        response.writeHead(200, {"content-type": "application/json"});
        response.end(JSON.stringify(Array.isArray(answer) ? answers : answers[0]));
      });
  };
  await proxy.start();
  try {
    await work(proxy.url.href);
  } finally {
    await proxy.stop();
  }
}

layer1Test(
  "events of both kinds finalize their blocks once layer 1 is final, and a restart goes on there",
  12,
  async it => {
    await it.contract.finalizeOld(2, it.root(0), it.root(2));
    await it.finalize(3, 4);
    await it.contract.settle();
    it.start();
    await it.finalizedAt(4);
    await it.logged(/"root":"suite".*the contract holds the roots of --l1-root suite/);
    await it.finalize(5, 7);
    await it.contract.settle();
    await it.finalizedAt(7);
    await it.finalize(8, 9);
    await it.contract.settle();
    await it.restart();
    await it.finalizedAt(9);
    assert.deepEqual(it.ends, [2, 4, 7, 9]);
    assert.equal(it.store.engine.chain.readLayer1()?.root, "suite");
    assert.deepEqual((await checkStore(it.store.directory)).found, []);
  },
);

layer1Test(
  "a finalization waits until its last block is held, and is recorded as soon as it is",
  9,
  async it => {
    await it.finalize(1, 3);
    await it.finalize(4, 6);
    await it.finalize(7, 8);
    await it.contract.settle();
    await it.store.engine.rollback(4);
    it.start();
    await it.finalizedAt(3);
    await it.logged(/"block":6,.*a finalized block is not held yet/);
    assert.equal(it.status.known, 8);
    await it.store.mustImport(createLines(0, 9));
    await it.finalizedAt(8);
    assert.deepEqual(it.ends, [3, 6, 8]);
  },
);

/** Block `number` of the branch that leaves the first one after block 5. */
function otherLine(number: number): DifferenceLine {
  const hashOf = (block: number): string => hashOfBlock(block > 5 ? 1000 + block : block);
  const line = createLine(number);
  return {
    ...line,
    hash: hashOf(number),
    parentHash: hashOf(number - 1),
    accounts: {...line.accounts, [ACCOUNTS[0] as string]: {balance: "0x77"}},
  };
}

layer1Test(
  "a block of the number that layer 1 finalized, of another branch, is not finalized until its own branch is held",
  5,
  async it => {
    const own = [6, 7, 8, 9].map(otherLine);
    await it.store.mustImport(own);
    const [five, seven, nine] = [it.root(5), it.root(7), it.root(9)];
    await it.store.engine.rollback(5);
    await it.store.mustImport(createLines(0, 9));
    await it.finalize(1, 5);
    await it.contract.finalize(6, 7, five, seven);
    await it.contract.finalize(8, 9, seven, nine);
    await it.contract.settle();
    it.start();
    await it.logged(/finality has stopped/);
    const wrong = `up to block 7 .* has state root 0x${Buffer.from(seven).toString("hex")}, but block 7 has 0x${Buffer.from(it.root(7)).toString("hex")} in the trees here`;
    assert.match(it.status.reason, new RegExp(wrong));
    assert.equal(it.finalized, 5);
    await it.store.engine.rollback(5);
    await it.store.mustImport(own);
    await it.finalizedAt(9);
    await it.logged(/finality continues after a stop/);
  },
);

layer1Test(
  "a root that is neither the header's nor the trees' finalizes nothing unless finality is by number",
  9,
  async it => {
    await it.finalize(1, 3, rootOf(3));
    await it.contract.settle();
    it.start();
    await it.logged(/finality has stopped/);
    assert.match(
      it.status.reason,
      /but block 3 has no root in its header and 0x\w+ in the trees here \(--l1-root says/,
    );
    assert.equal(it.status.isByNumber, false);
    await it.restart({root: "none"});
    await it.finalizedAt(3);
    assert.equal(it.status.isByNumber, true);
    assert.equal(it.store.engine.chain.readLayer1()?.root, undefined);
  },
);

/** A node of layer 2 that answers eth_getBlockByNumber. @param hashOf - undefined: it does not have the block */
async function withLayer2(
  hashOf: (block: number) => string | undefined,
  work: (url: string) => Promise<void>,
): Promise<void> {
  const node = new Upstream();
  node.handler = ({call: {id, params}}, response) => {
    const number = Number(params[0]);
    const hash = hashOf(number);
    const result = hash === undefined ? null : {number: params[0], hash, parentHash: hashOfBlock(number - 1)};
    response.writeHead(200, {"content-type": "application/json"});
    response.end(JSON.stringify({jsonrpc: "2.0", id, result}));
  };
  await node.start();
  try {
    await work(node.url.href);
  } finally {
    await node.stop();
  }
}

layer1Test("by number, every node of layer 2 that has the block must have the one held here", 9, async it => {
  let isBack = false;
  const other = (block: number) => hashOfBlock(isBack ? block : 100 + block);
  const behind = (block: number) => (block > 3 ? undefined : hashOfBlock(block));
  await withLayer2(hashOfBlock, good =>
    withLayer2(other, bad =>
      withLayer2(behind, late => {
        const urls = [good, bad, late];
        return followWith(it, urls, () => {
          isBack = true;
        });
      }),
    ),
  );
});

async function followWith(it: Followed, layer2: readonly string[], heal: () => void): Promise<void> {
  await it.contract.finalize(1, 5);
  await it.contract.settle();
  it.start({root: "none"}, undefined, layer2);
  await it.logged(/finality has stopped/);
  assert.match(
    it.status.reason,
    /another branch: block 5 has hash 0x\w+ here, but 0x\w+ at the layer-2 node/,
  );
  assert.equal(it.finalized, -1);
  heal();
  await it.finalizedAt(5);
}

layer1Test(
  "where roots are compared, one node of layer 2 with the block held here is enough",
  9,
  async it => {
    await withLayer2(hashOfBlock, good =>
      withLayer2(
        block => hashOfBlock(100 + block),
        async bad => {
          await it.finalize(1, 5);
          await it.contract.settle();
          it.start({}, undefined, [bad, good]);
          await it.finalizedAt(5);
        },
      ),
    );
  },
);

layer1Test(
  "an event that one answer leaves out is read again when the next one does not follow",
  9,
  async it => {
    await it.finalize(1, 3);
    const lost = await it.finalize(4, 5);
    await it.contract.settle();
    let isBehind = true;
    const change = ({method}: ProxiedCall, result: unknown) =>
      method === "eth_getLogs" && isBehind
        ? (result as {blockNumber: string}[]).filter(log => Number(log.blockNumber) !== lost)
        : result;
    await withProxy(it.contract, change, async url => {
      it.start({}, [url]);
      await it.finalizedAt(3);
      // The mark is recorded above the event, and a restart begins there.
      await it.contract.anvil.request("anvil_mine", "0x400");
      await it.contract.settle();
      while ((it.store.engine.chain.readLayer1()?.mark.block ?? 0) < lost + 1000) await pause(LOOK_MS);
      await it.restart({}, [url]);
      isBehind = false;
      await it.finalize(6, 8);
      await it.contract.settle();
      await it.finalizedAt(8);
      assert.deepEqual(it.ends, [3, 5, 8]);
      assert.match(it.log, new RegExp(AGAIN));
      assert.doesNotMatch(it.log, /finality has stopped/);
    });
  },
);

layer1Test("a node that leaves an event out is left for another one", 9, async it => {
  await it.finalize(1, 3);
  const lost = await it.finalize(4, 5);
  await it.finalize(6, 8);
  await it.contract.settle();
  const change = ({method}: ProxiedCall, result: unknown) =>
    method === "eth_getLogs"
      ? (result as {blockNumber: string}[]).filter(log => Number(log.blockNumber) !== lost)
      : result;
  await withProxy(it.contract, change, async url => {
    it.start({}, [url, it.contract.anvil.url]);
    await it.finalizedAt(8);
    assert.deepEqual(it.ends, [3, 5, 8]);
  });
});

layer1Test(
  "a layer 1 that contradicts itself stops finality, and --l1-from begins it again behind that",
  12,
  async it => {
    await it.finalize(1, 3);
    await it.finalize(4, 5, rootOf(200));
    const good = await it.finalize(6, 7);
    await it.contract.settle();
    it.start();
    await it.logged(/finality has stopped/);
    assert.match(it.status.reason, /up to block 5 .* has state root 0xc9c9/);
    assert.equal(it.status.state, "stopped");
    assert.equal(it.finalized, 3);
    await it.restart({from: good});
    await it.finalizedAt(7);
    assert.match(it.log, new RegExp(`finality begins again at layer-1 block ${good} \\(--l1-from\\)`));
    // The same flag again goes on, and what follows must follow.
    await it.finalize(9, 10);
    await it.contract.settle();
    await it.restart({from: good});
    await it.logged(/finality has stopped/);
    assert.match(it.status.reason, /begins at block 9, but the one before it ends at block 7/);
    assert.doesNotMatch(it.log, /begins again/);
    const last = await it.finalize(11, 12);
    await it.contract.settle();
    await it.restart({from: last});
    await it.finalizedAt(12);
    assert.deepEqual(it.ends, [3, 7, 12]);
    assert.deepEqual((await checkStore(it.store.directory)).found, []);
  },
);

layer1Test("another contract is refused, and counts once --l1-from begins finality again", 9, async it => {
  await it.finalize(1, 3);
  await it.contract.settle();
  it.start();
  await it.finalizedAt(3);
  const other = await it.contract.deploy();
  const {blockNumber} = await other.finalize(4, 6, it.root(3), it.root(6));
  await other.settle();
  const contract = Buffer.from(other.address.slice(2), "hex");
  await it.restart({contract});
  await it.logged(
    /are those of contract 0x\w+, not of --rollup 0x\w+. To begin again with this one, give --l1-from/,
  );
  await it.restart({contract, from: Number(blockNumber)});
  await it.finalizedAt(6);
  const empty = Buffer.alloc(20, 0x12);
  await it.restart({contract: empty, from: undefined});
  await it.logged(/not of --rollup 0x1212/);
});

layer1Test("an event about a block far above the head does not hold later ones back", 9, async it => {
  await it.finalize(1, 3);
  await it.contract.finalize(4, 1_000_000, it.root(3), rootOf(77));
  await it.contract.settle();
  it.start();
  await it.finalizedAt(3);
  await it.logged(/"block":1000000,.*a finalized block is not held yet/);
  await it.finalize(4, 6);
  await it.contract.settle();
  await it.finalizedAt(6);
  await it.logged(/a finalization up to block 1000000 does not count: a later one ends at block 6/);
  await it.finalize(7, 8);
  await it.contract.settle();
  await it.restart();
  await it.finalizedAt(8);
  assert.deepEqual(it.ends, [3, 6, 8]);
});

layer1Test(
  "layer-1 blocks that are taken back stop finality only if a recorded finalization was in them",
  9,
  async it => {
    const {anvil} = it.contract;
    const empty = await anvil.request<string>("evm_snapshot");
    it.start({depth: 0});
    await anvil.request("anvil_mine", "0x3");
    while ((it.status.layer1Read ?? 0) < (await anvil.request<number>("eth_blockNumber").then(Number)));
    await anvil.request("evm_revert", empty);
    await anvil.request("evm_increaseTime", 100);
    await it.finalize(1, 2);
    await it.contract.settle();
    await it.finalizedAt(2);
    const snapshot = await anvil.request<string>("evm_snapshot");
    await it.finalize(3, 4);
    await it.finalizedAt(4);
    await anvil.request("evm_revert", snapshot);
    await anvil.request("evm_increaseTime", 100);
    await it.contract.settle();
    await it.finalize(3, 6);
    await it.logged(
      /has no finalization up to block 4 by transaction 0x\w+ any more, but that one is recorded/,
    );
    await it.logged(/finality has stopped/);
    assert.equal(it.finalized, 4);
  },
);

layer1Test("ranges that a node refuses are split down to what it allows", 9, async it => {
  let widest = 0;
  for (let end = 1; end <= 8; end++) {
    await it.finalize(end, end);
    await it.contract.anvil.request("anvil_mine", "0x9");
  }
  await it.contract.settle();
  const change = ({method, params}: ProxiedCall, result: unknown) => {
    if (method !== "eth_getLogs") return result;
    const [{fromBlock, toBlock}] = params as [{fromBlock: string; toBlock: string}];
    const blocks = Number(toBlock) - Number(fromBlock) + 1;
    if (blocks > 7) return new Error("query exceeds max block range 7");
    widest = Math.max(widest, blocks);
    return result;
  };
  await withProxy(it.contract, change, async url => {
    it.start({}, [url]);
    await it.finalizedAt(8);
  });
  assert.ok(widest > 1 && widest <= 7, `${widest} blocks at once`);
  assert.equal(it.ends.length, 8);
});

layer1Test("a contract without code is named", 1, async it => {
  it.start({contract: Buffer.alloc(20, 0x12)});
  await it.logged(/finality has stopped/);
  assert.match(it.status.reason, /0x1212\w+ has no code at layer-1 block \d+: expected the rollup contract/);
});

layer1Test(
  "--l1-from above the newest final block is waited for, and no event before it counts",
  9,
  async it => {
    const from = (await it.finalize(1, 3)) + 500;
    await it.contract.settle();
    it.start({from});
    const line = `events are read from layer-1 block ${from} on .*; waiting until layer 1 is final up to block ${from - 1}, now it is up to block \\d+"`;
    await it.logged(new RegExp(line));
    await it.contract.anvil.request("anvil_mine", "0x200");
    await it.finalize(4, 6);
    await it.contract.settle();
    await it.finalizedAt(6);
    assert.deepEqual(it.ends, [6]);
    assert.equal(it.log.match(/waiting until layer 1 is final/g)?.length, 1);
  },
);

layer1Test(
  "poseidon2: the contract's roots are those of the trees",
  5,
  async it => {
    await it.finalize(1, 2);
    await it.contract.settle();
    it.start();
    await it.finalizedAt(2);
    await it.finalize(3, 4, it.root(5));
    await it.contract.settle();
    await it.logged(/up to block 4 .* has state root 0x\w+, but block 4 has 0x\w+ in the trees here/);
    assert.equal(it.finalized, 2);
  },
  "poseidon2",
);
