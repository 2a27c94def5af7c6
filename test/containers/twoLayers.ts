/** anvil as layer 2 and as layer 1, for services in containers. */
import assert from "node:assert/strict";
import {type AddressInfo, connect, createServer, type Server} from "node:net";
import {decodeHex} from "../../client/bytes/hex.ts";
import {sha256Suite} from "../../client/hash/hashSuites.ts";
import {LiveChain} from "../support/chains/liveChain.ts";
import {DEMO_CHAIN_ID} from "../support/demo/demoGenesis.ts";
import type {AskedService} from "../support/http/askedService.ts";
import {waitForCoverage} from "../support/http/followingDaemon.ts";
import {Layer1} from "../support/layer1/rollupContract.ts";
import {verifyProof} from "../support/reference/exactProof.ts";
import {once} from "../support/wait.ts";

/** The name that podman gives the machine in its containers. */
const HOST = "host.containers.internal";

export class TwoLayers {
  private finalized = 0;

  private constructor(
    readonly layer2: LiveChain,
    private readonly layer1: Layer1,
    private readonly doors: readonly Server[],
  ) {}

  /** @param folder - an empty one. @returns a text that says why there is no anvil */
  static async start(folder: string): Promise<TwoLayers | string> {
    const layer2 = await LiveChain.create(folder);
    if (typeof layer2 === "string") return layer2;
    const layer1 = await Layer1.start();
    if (typeof layer1 === "string") return layer1;
    await layer1.settle();
    const doors = await Promise.all([layer2.anvil.url, layer1.anvil.url].map(openDoor));
    return new TwoLayers(layer2, layer1, doors);
  }

  /** What an operator would write in the files of deploy/. URLs as containers reach the nodes. */
  get settings(): {
    readonly l2: string;
    readonly l1: string;
    readonly rollup: string;
    readonly chainId: string;
  } {
    const [l2 = "", l1 = ""] = this.doors.map(
      door => `http://${HOST}:${(door.address() as AddressInfo).port}`,
    );
    return {l2, l1, rollup: this.layer1.address, chainId: String(DEMO_CHAIN_ID)};
  }

  /** Mines blocks, and finalizes them on layer 1. @returns the newest one's number */
  async grow(count: number): Promise<number> {
    const end = await this.layer2.grow(count);
    const roots = await Promise.all(
      [this.finalized, end].map(async block => (await this.layer2.block(block)).stateRoot),
    );
    const [parent, root] = roots.map(hex => Buffer.from(hex.slice(2), "hex"));
    await this.layer1.finalize(this.finalized + 1, end, parent, root);
    await this.layer1.settle();
    this.finalized = end;
    return end;
  }

  /** Waits until a block is finalized there, and proves what the node has touched with the block's root. */
  async expectProofs(service: AskedService, block: number): Promise<void> {
    const tag = `0x${block.toString(16)}`;
    await waitForCoverage(service, "finalized", tag);
    const {result: held} = await service.call("chain_getStateRoot", [tag]);
    assert.equal(held.hash, (await this.layer2.block(block)).hash);
    const [address, keys] = [...this.layer2.touched].find(([, {size}]) => size > 0) as [string, Set<string>];
    const [key = ""] = keys;
    const {result} = await service.call("chain_getProof", [address, [key], tag]);
    const {account, slots} = verifyProof(sha256Suite, decodeHex(held.stateRoot), address, [key], result);
    assert.notEqual(account, undefined);
    const stored = await this.layer2.anvil.request<string>("eth_getStorageAt", address, key, tag);
    assert.equal(BigInt(slots[0] ?? 0), BigInt(stored));
  }

  async stop(): Promise<void> {
    for (const door of this.doors) door.close();
    await this.layer1.stop();
    await this.layer2.stop();
  }
}

/** Test nodes listen on loopback, which containers cannot reach. */
async function openDoor(url: string): Promise<Server> {
  const {port, hostname} = new URL(url);
  const door = createServer(socket => {
    const inner = connect(Number(port), hostname);
    for (const one of [socket, inner]) one.on("error", () => {}); // the other end sees its end
    socket.pipe(inner).pipe(socket);
    socket.once("close", () => inner.destroy());
    // A container that is gone does not end its connections.
    inner.once("close", () => socket.destroySoon());
  }).listen(0, "0.0.0.0");
  await once(door, "listening");
  return door;
}
