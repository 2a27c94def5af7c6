/**
 * What a block writes outside of its transactions, without a trace: slots of system contracts,
 *
 *   EIP-4788   beacon roots     timestamp % 8191: the timestamp; + 8191: the root
 *   EIP-2935   block hashes     (number - 1) % 8191: the parent's hash
 *   EIP-7002   withdrawal requests     slots 0 to 3: excess, count, head and tail of the queue
 *   EIP-7251   consolidation requests  the same
 *
 * and, on the OP stack, the balances of the fee vaults:
 *
 *   0x42..0019 base fee        0x42..001a layer 1's part        0x42..001b the operator's
 *
 * The values are read from the node. A contract that a chain does not have has no code at its address.
 */
import {parseAddress, parseArray} from "../../rpc/answerValues.ts";
import {type Node, NodeRefusal, orRefusal} from "../../rpc/node.ts";
import type {BlockBesidesTraces} from "./blockBesidesTraces.ts";

export interface SystemContract {
  readonly address: string;
  writtenSlots(block: BlockBesidesTraces): readonly bigint[];
}

const FEE_VAULTS: readonly SystemContract[] = ["19", "1a", "1b"].map(end => ({
  address: `0x42${"0".repeat(36)}${end}`,
  writtenSlots: () => [],
}));

/** HISTORY_BUFFER_LENGTH of EIP-4788 and HISTORY_SERVE_WINDOW of EIP-2935. */
const RING_SLOTS = 8191n;
const EMPTY_CODE = "0x";
const QUEUE_SLOTS: readonly bigint[] = [0n, 1n, 2n, 3n];

export const SYSTEM_CONTRACTS: readonly SystemContract[] = [
  {
    address: "0x000f3df6d732807ef1319fb7b8bb8522d0beac02",
    writtenSlots: ({header}) => {
      const slot = header.timestamp % RING_SLOTS;
      return [slot, slot + RING_SLOTS];
    },
  },
  {
    address: "0x0000f90827f1c53a10cb7a02335b175320002935",
    writtenSlots: ({header}) => (header.number === 0 ? [] : [BigInt(header.number - 1) % RING_SLOTS]),
  },
  {address: "0x00000961ef480eb55e80d19ad83579a64c007002", writtenSlots: () => QUEUE_SLOTS},
  {address: "0x0000bbddc7ce488642fb579f8b00f3a590007251", writtenSlots: () => QUEUE_SLOTS},
  ...FEE_VAULTS,
];

/**
 * Accounts that some chains change in single blocks outside of transactions, in other ways. They are only read for blocks
 * whose traces were not enough.
 */
export const RARE_ACCOUNTS: readonly string[] = [
  // create2Deployer: chains of the OP stack set its code in their first block under canyon.
  "0x13b0d85ccb8bf860b6b79af3029fca081ae9bef2",
  // BSC collects fees here during a block. At its end the account is empty, and so removed.
  "0xfffffffffffffffffffffffffffffffffffffffe",
];

export interface UntracedWrite {
  /** Its balance may have changed too. */
  readonly address: string;
  /** `0x` and 64 digits. */
  readonly slots: readonly string[];
}

/** @returns those with code at this block (a quantity, or "latest"). @throws NodeFailure, NodeRefusal */
export async function findSystemContracts(node: Node, block: string): Promise<SystemContract[]> {
  const calls = SYSTEM_CONTRACTS.map(({address}) => ({method: "eth_getCode", params: [address, block]}));
  const codes = await node.requestAll(calls);
  return SYSTEM_CONTRACTS.filter((_, position) => codes[position] !== EMPTY_CODE);
}

/**
 * @param block - a quantity
 * @returns the accounts that differ from the parent's, without removed ones; none if the node does not know them: geth
 *   does as an archive node. @throws NodeFailure
 */
export async function findModified(node: Node, block: string): Promise<string[]> {
  const method = "debug_getModifiedAccountsByNumber";
  const where = `${method} of ${block}`;
  const answer = await orRefusal(node.request(method, [Number(block)]));
  if (answer instanceof NodeRefusal) return [];
  return parseArray(answer, where).map(one => parseAddress(one, where));
}

export function listUntracedWrites(
  block: BlockBesidesTraces,
  contracts: readonly SystemContract[],
): UntracedWrite[] {
  return contracts.map(({address, writtenSlots}) => ({
    address,
    slots: writtenSlots(block).map(slot => `0x${slot.toString(16).padStart(64, "0")}`),
  }));
}
