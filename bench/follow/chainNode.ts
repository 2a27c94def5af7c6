/** The layer-2 node of the bench: anvil with a chain of token and ether transfers from its genesis. */
import {mkdtempSync, rmSync, writeFileSync} from "node:fs";
import {tmpdir} from "node:os";
import {join} from "node:path";
import {readContract} from "../../demo/artefact.ts";
import {toHex} from "../../storage/hex.ts";
import {configOfFork} from "../../workers/execution/forks.ts";
import {parseGenesis} from "../../workers/execution/genesis.ts";
import {encodeJsonBlock} from "../../workers/import/follow/jsonBlock.ts";
import {ANVIL_ACCOUNTS, makeAnvilState} from "../chains/anvilState.ts";
import {startAnvil} from "../served/anvil.ts";
import type {ServerProcess} from "../served/serverProcess.ts";
import {balanceSlot, encodeTransfer, TOKEN} from "../stages/benchContracts.ts";

export const TRANSACTIONS_PER_BLOCK = 50;
const CHAIN_ID = 424_242;
/** The newest fork whose state roots anvil 1.7.1 computes as the rules say. */
const FORK = "cancun";
const GAS_LIMIT = 30_000_000;
const GAS = "0x186a0";
const ETHER = "0x21e19e0c9bab2400000";
const TOKENS = `0x${(10n ** 24n).toString(16).padStart(64, "0")}`;
/** Accounts that receive something. */
const RECEIVERS = 1000;

export class ChainNode {
  private sent = 0;

  private constructor(
    readonly server: ServerProcess,
    /** For files about the chain. It is removed when the node stops. */
    readonly folder: string,
    /** geth's genesis file of the chain, its text. */
    readonly genesis: string,
    readonly genesisPath: string,
  ) {}

  /** @throws Error if anvil is not installed */
  static async start(): Promise<ChainNode> {
    const folder = mkdtempSync(join(tmpdir(), "proofd-follow-"));
    const genesisPath = join(folder, "genesis.json");
    const statePath = join(folder, "state.json");
    const genesis = JSON.stringify(makeGenesis());
    writeFileSync(genesisPath, genesis);
    writeFileSync(statePath, await makeAnvilState(genesis));
    const server = await startAnvil(
      ...["--load-state", statePath, "--accounts", `${ANVIL_ACCOUNTS.length}`, "--no-mining"],
      // An account that the genesis file does not have.
      "--disable-default-create2-deployer",
      ...["--hardfork", FORK, "--chain-id", `${CHAIN_ID}`],
    );
    return new ChainNode(server, folder, genesis, genesisPath);
  }

  /** Mines a block of TRANSACTIONS_PER_BLOCK transfers: two of three are the token's. @returns its number */
  async mine(): Promise<number> {
    const calls = Array.from({length: TRANSACTIONS_PER_BLOCK}, (_, i) => ({
      jsonrpc: "2.0",
      id: i,
      method: "eth_sendTransaction",
      params: [makeTransfer(this.sent + i)],
    }));
    this.sent += calls.length;
    const response = await fetch(this.server.url, {
      method: "POST",
      headers: {"content-type": "application/json"},
      body: JSON.stringify(calls),
    });
    const answers = (await response.json()) as {error?: {message: string}}[];
    const refused = answers.find(({error}) => error !== undefined)?.error;
    if (refused !== undefined) throw new Error(`anvil refused a transfer: ${refused.message}`);
    await this.server.call("evm_mine");
    return Number(await this.server.call("eth_blockNumber"));
  }

  /** @returns blocks 1 to `last` as `geth export` writes them */
  async readChain(last: number): Promise<Uint8Array> {
    const {forks} = parseGenesis(this.genesis);
    const blocks: Uint8Array[] = [];
    for (let number = 1; number <= last; number++) {
      const params = [`0x${number.toString(16)}`, true];
      blocks.push(encodeJsonBlock(await this.server.call("eth_getBlockByNumber", params), number, forks));
    }
    return Buffer.concat(blocks);
  }

  async stop(): Promise<void> {
    try {
      await this.server.stop();
    } finally {
      rmSync(this.folder, {recursive: true});
    }
  }
}

function makeGenesis(): object {
  const token = readContract("DemoToken");
  const storage = Object.fromEntries(
    ANVIL_ACCOUNTS.map(address => [toHex(balanceSlot(Buffer.from(address.slice(2), "hex"))), TOKENS]),
  );
  return {
    config: {...configOfFork(FORK), chainId: CHAIN_ID},
    alloc: {
      ...Object.fromEntries(ANVIL_ACCOUNTS.map(address => [address, {balance: ETHER}])),
      [toHex(TOKEN)]: {balance: "0x0", nonce: "0x1", code: `0x${token.deployedBytecode}`, storage},
    },
    difficulty: "0x0",
    gasLimit: `0x${GAS_LIMIT.toString(16)}`,
    baseFeePerGas: "0x7",
    timestamp: "0x6553f22d",
  };
}

/** Transfer `i` of the chain: to one receiver after the other. */
function makeTransfer(i: number): object {
  const from = ANVIL_ACCOUNTS[i % ANVIL_ACCOUNTS.length] as string;
  const receiver = Buffer.alloc(20);
  receiver.writeUInt32BE(0xabcd_0000 + (i % RECEIVERS), 16);
  const fees = {gas: GAS, maxFeePerGas: "0x77359400", maxPriorityFeePerGas: "0x3b9aca00"};
  if (i % 3 === 0) return {from, to: toHex(receiver), value: "0x1", ...fees};
  return {from, to: toHex(TOKEN), data: toHex(encodeTransfer(receiver, 1n)), ...fees};
}
