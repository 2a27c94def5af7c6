/**
 * geth as the layer-2 node of the bench. A chain is made once and kept:
 *
 *   bench-data/geth-<version>-<blocks>-<transactions>-v<layout>/     relative to the working directory
 *     genesis.json
 *     data/            geth's
 *
 * A folder gets its name when it is complete. geth runs on a copy, because the chain grows while it is followed.
 */
import {cpSync, existsSync, mkdirSync, readFileSync, renameSync, rmSync, writeFileSync} from "node:fs";
import {join} from "node:path";
import {setTimeout as sleep} from "node:timers/promises";
import {instantiateSecp256k1} from "@bitauth/libauth/build/lib/crypto/secp256k1.js";
import type {Common} from "@ethereumjs/common";
import {createTx} from "@ethereumjs/tx";
import {privateToAddress} from "@ethereumjs/util";
import {makeGenesisText} from "../../demo/demoGenesis.ts";
import {toHex} from "../../storage/hex.ts";
import {createChainRules} from "../../workers/execution/chainRules.ts";
import {type Genesis, parseGenesis} from "../../workers/execution/genesis.ts";
import {BENCH_FOLDER} from "../program/runFile.ts";
import {initGeth, startGeth} from "../served/geth.ts";
import type {ServerProcess} from "../served/serverProcess.ts";
import {allocateToken, type ChainNode, makeTransaction} from "./chainNode.ts";

/** Raised whenever the chain changes, so that kept chains differ from new ones. */
const LAYOUT_VERSION = 2;
/** Each has another sender. */
export const TRANSACTIONS_PER_BLOCK = 100;
/** Of the genesis file, from block 0 on. */
const FORK = "osaka";
/** geth indexes old states before it answers for them. It begins once it has a block of the last six hours, and looks every minute. */
const STATES_MS = 180_000;
const LOOK_MS = 100;
/** Of the fees of every block. */
export const RECIPIENT = `0x${"c0".repeat(20)}`;
const GENESIS = "genesis.json";
const DATA = "data";

const KEYS = Array.from({length: TRANSACTIONS_PER_BLOCK}, (_, i) => new Uint8Array(32).fill(i + 1));
/** Four times as fast as that of @ethereumjs. */
const secp256k1 = await instantiateSecp256k1();

export interface GethBinary {
  readonly path: string;
  readonly version: string;
}

export class GethNode implements ChainNode {
  private constructor(
    readonly server: ServerProcess,
    readonly genesisPath: string,
    private readonly genesis: Genesis,
    /** The number of its newest block. */
    private height: number,
    /** That block's timestamp. */
    private seconds: number,
  ) {}

  /** Starts geth with a chain of at least so many blocks after block 0. @param folder - for its data; there is none yet */
  static async start(geth: GethBinary, blocks: number, folder: string): Promise<GethNode> {
    const name = `geth-${geth.version}-${blocks}-${TRANSACTIONS_PER_BLOCK}-v${LAYOUT_VERSION}`;
    const kept = join(BENCH_FOLDER, name);
    if (!existsSync(kept)) {
      const unfinished = `${kept}.unfinished`;
      rmSync(unfinished, {recursive: true, force: true});
      await makeChain(geth, blocks, unfinished);
      renameSync(unfinished, kept);
    }
    cpSync(join(kept, DATA), folder, {recursive: true});
    const node = await GethNode.open(geth.path, folder, join(kept, GENESIS));
    try {
      if (node.height !== blocks)
        throw new Error(`expected a chain of ${blocks} blocks, got one of ${node.height}: remove ${kept}`);
      await node.mine();
      await node.waitForStates();
    } catch (error) {
      await node.server.stop();
      throw error;
    }
    return node;
  }

  static async open(path: string, folder: string, genesisPath: string): Promise<GethNode> {
    const genesis = parseGenesis(readFileSync(genesisPath, "utf8"));
    const server = await startGeth(path, folder);
    const head = (await server.call("eth_getBlockByNumber", ["latest", false])) as Record<string, string>;
    return new GethNode(server, genesisPath, genesis, Number(head.number), Number(head.timestamp));
  }

  async mine(): Promise<number> {
    const {chainId, forks} = this.genesis;
    const number = this.height + 1;
    const common = createChainRules(forks);
    common.setHardfork(FORK);
    const word = toWord(number);
    const seconds = Math.max(this.seconds + 1, Math.floor(Date.now() / 1000));
    const attributes = {
      timestamp: `0x${seconds.toString(16)}`,
      prevRandao: word,
      suggestedFeeRecipient: RECIPIENT,
      withdrawals: [],
      parentBeaconBlockRoot: word,
    };
    const transactions = KEYS.map((_, i) => signTransaction(this.height, i, chainId, common));
    // Like engine_newPayload and engine_forkchoiceUpdated it executes the block, makes it the head and announces it.
    await this.server.call("testing_commitBlockV1", [attributes, transactions]);
    this.height = number;
    this.seconds = seconds;
    return number;
  }

  /** Until it has the states of old blocks. @throws Error if it has not after STATES_MS */
  private async waitForStates(): Promise<void> {
    const endMs = performance.now() + STATES_MS;
    for (;;) {
      try {
        await this.server.call("eth_getBalance", [RECIPIENT, "0x1"]);
        return;
      } catch (error) {
        if (performance.now() > endMs) throw error;
        await sleep(LOOK_MS);
      }
    }
  }
}

async function makeChain(geth: GethBinary, blocks: number, folder: string): Promise<void> {
  mkdirSync(folder, {recursive: true});
  const genesisPath = join(folder, GENESIS);
  const senders = KEYS.map(key => privateToAddress(key));
  const {alloc, ...fields} = JSON.parse(makeGenesisText(senders));
  const token = allocateToken(senders.map(toHex));
  writeFileSync(genesisPath, JSON.stringify({...fields, alloc: {...alloc, ...token}}));
  initGeth(geth.path, join(folder, DATA), genesisPath);
  const node = await GethNode.open(geth.path, join(folder, DATA), genesisPath);
  for (let block = 1; block <= blocks; block++) await node.mine();
  await node.server.stop();
}

/** @param nonce - how many blocks there are, since each sender sends once in a block. @param i - position of the sender */
function signTransaction(nonce: number, i: number, chainId: bigint, common: Common): string {
  const {gas, ...call} = makeTransaction(nonce * KEYS.length + i);
  const unsigned = createTx({type: 2, chainId, nonce, gasLimit: gas, ...call}, {common});
  const signed = secp256k1.signMessageHashRecoverableCompact(
    KEYS[i] as Uint8Array,
    unsigned.getHashedMessageToSign(),
  );
  if (typeof signed === "string") throw new Error(signed);
  const {signature, recoveryId} = signed;
  const [r, s] = [signature.subarray(0, 32), signature.subarray(32)];
  return toHex(unsigned.addSignature(BigInt(recoveryId), r, s).serialize());
}

function toWord(value: number): string {
  return `0x${value.toString(16).padStart(64, "0")}`;
}
