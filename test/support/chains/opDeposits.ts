/**
 * Deposits: transactions of type 0x7e, which layer 1 forces into a block of an OP stack. Nobody signs them.
 *
 *   0x7e | rlp([source hash, from, to, mint, value, gas limit, is system transaction, data])
 *
 * https://specs.optimism.io/protocol/deposits.html
 */
import {RLP} from "@ethereumjs/rlp";
import {keccak256} from "../../../storage/hash/keccak.ts";
import {toHex} from "../../../storage/hex.ts";
import type {OpForkBlocks} from "./opGenesis.ts";

export interface Deposit {
  readonly from: string;
  /** undefined: a creation. */
  readonly to?: string;
  /** Wei that come from layer 1. */
  readonly mint?: bigint;
  readonly value?: bigint;
  readonly gas?: bigint;
  readonly data?: Uint8Array;
}

const DEPOSIT_TYPE = 0x7e;
const GAS_LIMIT = 1_000_000n;
export const L1_BLOCK = "0x4200000000000000000000000000000000000015";
export const L1_DEPOSITOR = "0xdeaddeaddeaddeaddeaddeaddeaddeaddead0001";
const ZERO_ADDRESS = `0x${"00".repeat(20)}`;
/** A contract is made by each of these in its first transaction. */
const L1_BLOCK_DEPLOYER = "0x4210000000000000000000000000000000000003";
const HISTORY_DEPLOYER = "0x3462413af4609098e1e27a490f554f260213d685";
/** EIP-2935's, which puts the contract to 0x0000f908..2935. */
const HISTORY_CREATION = bytes(
  "60538060095f395ff33373fffffffffffffffffffffffffffffffffffffffe14604657602036036042575f35600143038111604257611fff81430311" +
    "604257611fff9006545f5260205ff35b5f5ffd5b5f35611fff60014303065500",
);

/** @param source - the deposit's number on the chain, which makes its hash */
export function encodeDeposit({from, to, data, ...numbers}: Deposit, source: number): string {
  const {mint = 0n, value = 0n, gas = GAS_LIMIT} = numbers;
  const fields = [
    ...[keccak256(Buffer.from(`deposit ${source}`)), bytes(from.slice(2)), bytes((to ?? "").slice(2))],
    ...[mint, value, gas, 0n, data ?? new Uint8Array(0)],
  ];
  return toHex(Buffer.concat([Buffer.of(DEPOSIT_TYPE), RLP.encode(fields)]));
}

/** The first transaction of each block: what it says of layer 1. */
export function describeLayer1(block: number, forks: OpForkBlocks): Deposit {
  return {from: L1_DEPOSITOR, to: L1_BLOCK, data: Buffer.concat(encodeLayer1(block, forks))};
}

/** The first block of a fork still has the form of the one before. */
function encodeLayer1(block: number, forks: OpForkBlocks): Uint8Array[] {
  const origin = Math.floor(block / 6);
  const [hash, batcher] = [keccak256(Buffer.from(`layer 1 ${origin}`)), number(0xba7c4e2, 32)];
  const [sequence, time, height] = [block % 6, 1_700_000_000 + 12 * origin, 20_000_000 + origin];
  const [baseFee, blobBaseFee] = [8_000_000_000 + ((block * 7919) % 1_000_000_000), 1 + (block % 3)];
  if (block <= forks.ecotone)
    return [
      selector("setL1BlockValues(uint64,uint64,uint256,bytes32,uint64,bytes32,uint256,uint256)"),
      ...[number(height, 32), number(time, 32), number(baseFee, 32), hash, number(sequence, 32), batcher],
      ...[number(188, 32), number(684_000, 32)],
    ];
  const form = block <= forks.isthmus ? "Ecotone" : block <= forks.jovian ? "Isthmus" : "Jovian";
  return [
    selector(`setL1BlockValues${form}()`),
    ...[number(1368, 4), number(810_949, 4), number(sequence, 8), number(time, 8), number(height, 8)],
    ...[number(baseFee, 32), number(blobBaseFee, 32), hash, batcher],
    // The operator's fee, and how much of a block's data counts.
    ...(form === "Ecotone" ? [] : [number(2_000_000, 4), number(500, 8)]),
    ...(form === "Jovian" ? [number(400, 2)] : []),
  ];
}

/** Those of isthmus: L1Block gets code that takes all later forms, and EIP-2935's contract is made. */
export function upgradeToIsthmus(): readonly Deposit[] {
  const implementation = Buffer.concat([number(0, 12), createdFirst(L1_BLOCK_DEPLOYER)]);
  return [
    {from: L1_BLOCK_DEPLOYER, data: returnCode(l1BlockCode())},
    // Its proxy obeys the zero address.
    {from: ZERO_ADDRESS, to: L1_BLOCK, data: Buffer.concat([selector("upgradeTo(address)"), implementation])},
    {from: HISTORY_DEPLOYER, data: HISTORY_CREATION},
  ];
}

/** Stores what op-geth reads of L1Block, in the slots of the real one: [slot, offset in the calldata, bits to the right of it]. */
const L1_BLOCK_SLOTS = [
  ...[
    [3, 4, 128],
    [0, 20, 128],
    [1, 36, 0],
    [7, 68, 0],
    [2, 100, 0],
    [4, 132, 0],
  ],
  [8, 164, 160],
] as const;

function l1BlockCode(): Uint8Array {
  const stores = L1_BLOCK_SLOTS.map(([slot, offset, shift]) =>
    Buffer.of(0x60, offset, 0x35, 0x60, shift, 0x1c, 0x60, slot, 0x55),
  );
  return Buffer.concat([...stores, Buffer.of(0)]);
}

function returnCode(code: Uint8Array): Uint8Array {
  return Buffer.concat([Buffer.of(0x60, code.length, 0x80, 0x60, 0x0a, 0x3d, 0x39, 0x3d, 0xf3, 0x00), code]);
}

/** The address of the contract that an account makes with its nonce 0. */
function createdFirst(from: string): Uint8Array {
  return keccak256(RLP.encode([bytes(from.slice(2)), 0n])).subarray(12);
}

export function selector(signature: string): Uint8Array {
  return keccak256(Buffer.from(signature)).subarray(0, 4);
}

/** Big-endian. */
export function number(value: number | bigint, length: number): Buffer {
  return bytes(value.toString(16).padStart(2 * length, "0"));
}

function bytes(hex: string): Buffer {
  return Buffer.from(hex, "hex");
}
