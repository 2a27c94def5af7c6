/** Opcodes, static gas and parameters of each hard fork, from the yellow paper and the EIPs named here. */

/** In order. */
const FORKS = ["berlin", "london", "paris", "shanghai", "cancun", "prague", "osaka"] as const;
type Fork = (typeof FORKS)[number];

/** Forks that do not change the EVM: they delay the difficulty bomb, or change the number of blobs. */
const SAME_AS: readonly (readonly [names: RegExp, same: Fork])[] = [
  [/^(arrow|gray)Glacier$/, "london"],
  [/^bpo[1-5]$/, "osaka"],
];

/** Of an opcode: its static gas, the words that it pops from the stack, and those that it pushes. */
type Opcode = readonly [gas: number, takes: number, gives: number];
/** Opcodes that agree in these. */
type Row = readonly [...Opcode, codes: readonly number[]];

const OPCODES: readonly Row[] = [
  [0, 0, 0, [0x00]],
  [3, 2, 1, [0x01, 0x03, ...range(0x10, 0x14), ...range(0x16, 0x18), ...range(0x1a, 0x1d)]],
  [5, 2, 1, [0x02, ...range(0x04, 0x07), 0x0b]],
  [8, 3, 1, [0x08, 0x09]],
  [10, 2, 1, [0x0a]],
  [3, 1, 1, [0x15, 0x19, 0x35, 0x51]],
  [30, 2, 1, [0x20]],
  [2, 0, 1, [0x30, ...range(0x32, 0x34), 0x36, 0x38, 0x3a, 0x3d, ...range(0x41, 0x46), ...range(0x58, 0x5a)]],
  // Opcodes with 0 pay only for the access (EIP-2929), or nothing.
  [0, 1, 1, [0x31, 0x3b, 0x3f, 0x54]],
  [3, 3, 0, [0x37, 0x39, 0x3e]],
  [0, 4, 0, [0x3c]],
  [20, 1, 1, [0x40]],
  [5, 0, 1, [0x47]],
  [2, 1, 0, [0x50]],
  [3, 2, 0, [0x52, 0x53]],
  [0, 2, 0, [0x55, 0xf3, 0xfd]],
  [8, 1, 0, [0x56]],
  [10, 2, 0, [0x57]],
  [1, 0, 0, [0x5b]],
  [3, 0, 1, range(0x60, 0x7f)],
  ...range(0x80, 0x8f).map((code): Row => [3, code - 0x7f, code - 0x7e, [code]]),
  ...range(0x90, 0x9f).map((code): Row => [3, code - 0x8e, code - 0x8e, [code]]),
  ...range(0xa0, 0xa4).map((code): Row => [375 * (code - 0x9f), code - 0x9e, 0, [code]]),
  [32000, 3, 1, [0xf0]],
  [0, 7, 1, [0xf1, 0xf2]],
  [0, 6, 1, [0xf4, 0xfa]],
  [32000, 4, 1, [0xf5]],
  [0, 1, 0, [0xff]],
];

const NEW_OPCODES: Readonly<Partial<Record<Fork, readonly Row[]>>> = {
  // EIP-3198
  london: [[2, 0, 1, [0x48]]],
  // EIP-3855
  shanghai: [[2, 0, 1, [0x5f]]],
  cancun: [
    // EIP-4844
    [3, 1, 1, [0x49]],
    // EIP-7516
    [2, 0, 1, [0x4a]],
    // EIP-1153
    [100, 1, 1, [0x5c]],
    [100, 2, 0, [0x5d]],
    // EIP-5656
    [3, 3, 0, [0x5e]],
  ],
  // EIP-7939
  osaka: [[5, 1, 1, [0x1e]]],
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
  const [, same = fork] = SAME_AS.find(([names]) => names.test(fork)) ?? [];
  const last = FORKS.indexOf(same as Fork);
  if (last < 0) return undefined;
  const forks = FORKS.slice(0, last + 1);
  const opcodes = new Array<Opcode | undefined>(256).fill(undefined);
  for (const [gas, takes, gives, codes] of [...OPCODES, ...forks.flatMap(name => NEW_OPCODES[name] ?? [])])
    for (const code of codes) opcodes[code] = [gas, takes, gives];
  const params = Object.assign({}, BERLIN, ...forks.map(name => NEW_PARAMS[name] ?? {})) as Params;
  return {fork, opcodes, params};
}

function range(first: number, last: number): number[] {
  return Array.from({length: last - first + 1}, (_, at) => first + at);
}
