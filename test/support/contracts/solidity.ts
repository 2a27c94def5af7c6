/** Compiles Solidity. With settings that leave the metadata out, the bytes depend on the sources and the compiler's version alone. */
import solc from "solc";

interface CompiledContract {
  readonly abi: readonly unknown[];
  readonly evm: {
    readonly bytecode: {readonly object: string};
    readonly deployedBytecode: {readonly object: string};
    /** Selectors by signature. */
    readonly methodIdentifiers: Readonly<Record<string, string>>;
  };
}

const OUTPUT = ["abi", "evm.bytecode.object", "evm.deployedBytecode.object", "evm.methodIdentifiers"];

/** The part of solc's standard output that is asked for above. */
interface CompilerOutput {
  readonly errors?: readonly {readonly severity: string; readonly formattedMessage: string}[];
  readonly contracts?: Readonly<Record<string, Readonly<Record<string, CompiledContract>>>>;
}

/**
 * @param sources - texts by the names of their files
 * @param refused - severities of what the compiler may not find
 * @param read - reads what a source imports that is none of them
 * @returns all contracts, by name
 * @throws Error with what the compiler finds wrong
 */
export function compileSolidity(
  sources: Readonly<Record<string, string>>,
  settings: object,
  refused: readonly ("error" | "warning")[],
  read?: (path: string) => {contents: string},
): readonly (readonly [name: string, contract: CompiledContract])[] {
  const input = {
    language: "Solidity",
    sources: Object.fromEntries(Object.entries(sources).map(([name, content]) => [name, {content}])),
    settings: {...settings, outputSelection: {"*": {"*": OUTPUT}}},
  };
  const output = JSON.parse(solc.compile(JSON.stringify(input), {import: read})) as CompilerOutput;
  const found = (output.errors ?? []).filter(({severity}) => refused.some(one => one === severity));
  if (found.length > 0) throw new Error(found.map(({formattedMessage}) => formattedMessage).join("\n"));
  return Object.keys(sources).flatMap(name => Object.entries(output.contracts?.[name] ?? {}));
}
