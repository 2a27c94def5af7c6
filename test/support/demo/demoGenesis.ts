/** The demo chain's block 0: every hard fork up to osaka, 320 accounts with ether, one old ledger. */
import {readFileSync} from "node:fs";
import {join} from "node:path";
import {word} from "../../../client/hash/hashSuites.ts";
import {DEMO_FOLDER, readContract} from "../../../demo/artefact.ts";
import {toHex} from "../../../storage/hex.ts";
import {makeAddress} from "./demoAccount.ts";
import {BASE_FEE, GAS_LIMIT} from "./demoChain.ts";

export const DEMO_CHAIN_ID = 424242;
const ETHER = 10n ** 18n;
/** 1 January 2025. */
const TIMESTAMP = 1_735_689_600;
/** The mainnet counts of these forks (EIP-7691, EIP-7892). */
const BLOBS = {target: 6, max: 9, baseFeeUpdateFraction: 5007716};

interface SystemContracts {
  readonly contracts: readonly {readonly address: string; readonly code: string}[];
}

interface AllocatedAccount {
  readonly balance: string;
  readonly nonce?: string;
  readonly code?: string;
  readonly storage?: Readonly<Record<string, string>>;
}

/** A contract that exists with its slots from block 0 on. */
export const oldLedger = makeAddress("old ledger");

/** @param funded - addresses with ether: 20 bytes each */
export function makeGenesisText(funded: readonly Uint8Array[]): string {
  const zero = `0x${"00".repeat(32)}`;
  const alloc: [string, AllocatedAccount][] = [
    ...readSystemContracts().map(({address, code}): [string, AllocatedAccount] => [
      address,
      {balance: "0x0", nonce: "0x1", code},
    ]),
    [toHex(oldLedger), makeOldLedger()],
    ...funded.map((address): [string, AllocatedAccount] => [
      toHex(address),
      {balance: `0x${(1000n * ETHER).toString(16)}`},
    ]),
  ];
  const fields = {
    config: makeConfig(),
    nonce: "0x0",
    timestamp: `0x${TIMESTAMP.toString(16)}`,
    extraData: toHex(Buffer.from("proofd demo")),
    gasLimit: `0x${GAS_LIMIT.toString(16)}`,
    difficulty: "0x0",
    mixHash: zero,
    coinbase: `0x${"00".repeat(20)}`,
    baseFeePerGas: `0x${BASE_FEE.toString(16)}`,
  };
  // One account per line: small, and still readable.
  const head = JSON.stringify(fields, null, 2).slice(0, -2);
  const lines = alloc.map(
    ([address, account]) => `    ${JSON.stringify(address)}: ${JSON.stringify(account)}`,
  );
  return `${head},\n  "alloc": {\n${lines.join(",\n")}\n  }\n}\n`;
}

function readSystemContracts(): SystemContracts["contracts"] {
  return (JSON.parse(readFileSync(join(DEMO_FOLDER, "systemContracts.json"), "utf8")) as SystemContracts)
    .contracts;
}

function makeOldLedger(): AllocatedAccount {
  const storage = [1n, 2n, 3n].map(slot => [toHex(word(slot)), toHex(word(slot * 1000n))]);
  return {
    balance: "0x1",
    nonce: "0x1",
    code: `0x${readContract("Ledger").deployedBytecode}`,
    storage: Object.fromEntries(storage),
  };
}

function makeConfig(): object {
  const byNumber = [
    ..."homestead eip150 eip155 eip158 byzantium constantinople petersburg istanbul muirGlacier".split(" "),
    ..."berlin london arrowGlacier grayGlacier mergeNetsplit".split(" "),
  ];
  const byTime = ["shanghai", "cancun", "prague", "osaka"];
  return {
    chainId: DEMO_CHAIN_ID,
    ...Object.fromEntries(byNumber.map(name => [`${name}Block`, 0])),
    terminalTotalDifficulty: 0,
    ...Object.fromEntries(byTime.map(name => [`${name}Time`, 0])),
    blobSchedule: {cancun: {target: 3, max: 6, baseFeeUpdateFraction: 3338477}, prague: BLOBS, osaka: BLOBS},
    depositContractAddress: `0x${"00".repeat(20)}`,
  };
}
