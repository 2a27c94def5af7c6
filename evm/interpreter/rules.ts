/** Opcodes, static gas and parameters of each hard fork, from the yellow paper and the EIPs named here. */

/** In order. */
const FORKS = ["berlin", "london", "paris", "shanghai", "cancun", "prague", "osaka"] as const;
type Fork = (typeof FORKS)[number];

/** Forks that do not change the EVM: they delay the difficulty bomb, or change the number of blobs. */
const SAME_AS: Readonly<Record<string, Fork>> = {
  arrowGlacier: "london",
  grayGlacier: "london",
  bpo1: "osaka",
  bpo2: "osaka",
  bpo3: "osaka",
  bpo4: "osaka",
  bpo5: "osaka",
};

/** An opcode, its static gas, the words that it pops from the stack, and those that it pushes. */
type Opcode = readonly [code: number, gas: number, takes: number, gives: number];

const OPCODES: readonly Opcode[] = [
  [0x00, 0, 0, 0],
  [0x01, 3, 2, 1],
  [0x02, 5, 2, 1],
  [0x03, 3, 2, 1],
  [0x04, 5, 2, 1],
  [0x05, 5, 2, 1],
  [0x06, 5, 2, 1],
  [0x07, 5, 2, 1],
  [0x08, 8, 3, 1],
  [0x09, 8, 3, 1],
  [0x0a, 10, 2, 1],
  [0x0b, 5, 2, 1],
  ...range(0x10, 0x14).map((code): Opcode => [code, 3, 2, 1]),
  [0x15, 3, 1, 1],
  ...range(0x16, 0x18).map((code): Opcode => [code, 3, 2, 1]),
  [0x19, 3, 1, 1],
  ...range(0x1a, 0x1d).map((code): Opcode => [code, 3, 2, 1]),
  [0x20, 30, 2, 1],
  [0x30, 2, 0, 1],
  // Opcodes with 0 pay only for the access (EIP-2929), or nothing.
  [0x31, 0, 1, 1],
  ...range(0x32, 0x34).map((code): Opcode => [code, 2, 0, 1]),
  [0x35, 3, 1, 1],
  [0x36, 2, 0, 1],
  [0x37, 3, 3, 0],
  [0x38, 2, 0, 1],
  [0x39, 3, 3, 0],
  [0x3a, 2, 0, 1],
  [0x3b, 0, 1, 1],
  [0x3c, 0, 4, 0],
  [0x3d, 2, 0, 1],
  [0x3e, 3, 3, 0],
  [0x3f, 0, 1, 1],
  [0x40, 20, 1, 1],
  ...range(0x41, 0x46).map((code): Opcode => [code, 2, 0, 1]),
  [0x47, 5, 0, 1],
  [0x50, 2, 1, 0],
  [0x51, 3, 1, 1],
  [0x52, 3, 2, 0],
  [0x53, 3, 2, 0],
  [0x54, 0, 1, 1],
  [0x55, 0, 2, 0],
  [0x56, 8, 1, 0],
  [0x57, 10, 2, 0],
  ...range(0x58, 0x5a).map((code): Opcode => [code, 2, 0, 1]),
  [0x5b, 1, 0, 0],
  ...range(0x60, 0x7f).map((code): Opcode => [code, 3, 0, 1]),
  ...range(0x80, 0x8f).map((code): Opcode => [code, 3, code - 0x7f, code - 0x7e]),
  ...range(0x90, 0x9f).map((code): Opcode => [code, 3, code - 0x8e, code - 0x8e]),
  ...range(0xa0, 0xa4).map((code): Opcode => [code, 375 * (code - 0x9f), code - 0x9e, 0]),
  [0xf0, 32000, 3, 1],
  [0xf1, 0, 7, 1],
  [0xf2, 0, 7, 1],
  [0xf3, 0, 2, 0],
  [0xf4, 0, 6, 1],
  [0xf5, 32000, 4, 1],
  [0xfa, 0, 6, 1],
  [0xfd, 0, 2, 0],
  [0xff, 5000, 1, 0],
];

const NEW_OPCODES: Readonly<Partial<Record<Fork, readonly Opcode[]>>> = {
  // EIP-3198
  london: [[0x48, 2, 0, 1]],
  // EIP-3855
  shanghai: [[0x5f, 2, 0, 1]],
  cancun: [
    // EIP-4844
    [0x49, 3, 1, 1],
    // EIP-7516
    [0x4a, 2, 0, 1],
    // EIP-1153
    [0x5c, 100, 1, 1],
    [0x5d, 100, 2, 0],
    // EIP-5656
    [0x5e, 3, 3, 0],
  ],
  // EIP-7939
  osaka: [[0x1e, 5, 1, 1]],
};

/** In the order in which wasm/params.ts reads and describes them. Flags are 0 or 1. */
const BERLIN = {
  lastPrecompile: 9,
  hasP256: 0,
  clearingRefund: 15000,
  destructionRefund: 24000,
  refusesEf: 0,
  initcodeWordGas: 0,
  destroysOnlyNew: 0,
  hasDelegations: 0,
  maxInitcodeBytes: 0,
};
type Params = Readonly<typeof BERLIN>;

const NEW_PARAMS: Readonly<Partial<Record<Fork, Partial<Params>>>> = {
  // EIP-3529, EIP-3541
  london: {clearingRefund: 4800, destructionRefund: 0, refusesEf: 1},
  // EIP-3860
  shanghai: {initcodeWordGas: 2, maxInitcodeBytes: 49152},
  // EIP-4844's point evaluation, EIP-6780
  cancun: {lastPrecompile: 0x0a, destroysOnlyNew: 1},
  // EIP-2537, EIP-7702
  prague: {lastPrecompile: 0x11, hasDelegations: 1},
  // EIP-7951
  osaka: {hasP256: 1},
};

export interface EvmRules {
  readonly fork: string;
  /** By opcode; undefined for an invalid one. */
  readonly opcodes: readonly (Opcode | undefined)[];
  readonly params: Params;
}

const known = new Map<string, EvmRules | undefined>();

/** @returns the same object for the same fork; undefined for a fork before berlin or an unknown one */
export function rulesOf(fork: string): EvmRules | undefined {
  if (!known.has(fork)) known.set(fork, makeRules(fork));
  return known.get(fork);
}

function makeRules(fork: string): EvmRules | undefined {
  const last = FORKS.indexOf((SAME_AS[fork] ?? fork) as Fork);
  if (last < 0) return undefined;
  const forks = FORKS.slice(0, last + 1);
  const opcodes = new Array<Opcode | undefined>(256).fill(undefined);
  for (const opcode of [...OPCODES, ...forks.flatMap(name => NEW_OPCODES[name] ?? [])])
    opcodes[opcode[0]] = opcode;
  const params = Object.assign({}, BERLIN, ...forks.map(name => NEW_PARAMS[name] ?? {})) as Params;
  return {fork, opcodes, params};
}

function range(first: number, last: number): number[] {
  return Array.from({length: last - first + 1}, (_, at) => first + at);
}
