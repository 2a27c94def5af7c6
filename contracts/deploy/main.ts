/** The command that deploys the contracts of this package. */
import {parseArgs} from "node:util";
import {Claim, Deposit, Poseidon2ProofVerifier, Sha256ProofVerifier, StateRootOracle} from "proofd-contracts";
import {type Creation, create, readKey} from "./creation.ts";
import {Node} from "./node.ts";

const HELP = `Deploys contracts and prints their addresses as JSON. The variable DEPLOY_KEY has the private key of the
account that pays.

  deploy.js bridge --url URL --suite SUITE [--source ADDRESS] [--rollup ADDRESS]
      Deploys a proof verifier for the hash suite (sha256 or poseidon2; chain_getCoverage of proofd returns it), and a
      StateRootOracle: the source may record state roots in it, and it reads others from the rollup's contract.
  deploy.js claim --url URL --verifier ADDRESS --oracle ADDRESS --account ADDRESS --slot NUMBER --block NUMBER
      Deploys the example that pays out the balances in a mapping of a layer-2 contract, as of one block.
  deploy.js deposit --url URL
      Deploys the example for layer 2: its mapping at slot 0 records how much each sender has deposited.
`;
const EXIT_FAILED = 1;
const EXIT_USAGE = 2;
const NOBODY = `0x${"00".repeat(20)}`;
const VERIFIERS: Readonly<Record<string, Omit<Creation, "args">>> = {
  sha256: {name: "Sha256ProofVerifier", bytecode: Sha256ProofVerifier.bytecode},
  poseidon2: {name: "Poseidon2ProofVerifier", bytecode: Poseidon2ProofVerifier.bytecode},
};
/** The SHA-256 precompile, and the digest of the empty input. */
const SHA256 = `0x${"2".padStart(40, "0")}`;
const DIGEST_OF_NOTHING = "0xe3b0c44298fc1c149afbf4c8996fb92427ae41e4649b934ca495991b7852b855";

class UsageError extends Error {}

type Flags = Readonly<Record<string, string | undefined>>;

/** The contracts that a command deploys, by the names that it prints. */
type Plan = Readonly<Record<string, Creation>>;

interface Command {
  /** Flags besides `url`. */
  readonly flags: readonly string[];
  plan(flags: Flags, node: Node): Promise<Plan>;
}

const COMMANDS: Readonly<Record<string, Command>> = {
  bridge: {
    flags: ["suite", "source", "rollup"],
    async plan({suite = "", source, rollup}, node) {
      const verifier = Object.hasOwn(VERIFIERS, suite) ? VERIFIERS[suite] : undefined;
      if (verifier === undefined)
        throw new UsageError(`--suite: expected sha256 or poseidon2, got "${suite}"`);
      if (source === undefined && rollup === undefined)
        throw new UsageError(
          "expected --source (the account that records state roots), --rollup (the contract that has them), or both",
        );
      const args = [source === undefined ? NOBODY : readAddress("source", source)];
      args.push(rollup === undefined ? NOBODY : await readContract("rollup", rollup, node));
      if (
        suite === "sha256" &&
        (await node.ask("eth_call", {to: SHA256, data: "0x"}, "latest")) !== DIGEST_OF_NOTHING
      )
        throw new Error(
          `--suite: ${node.name} has no SHA-256 at address 2, so proofs of sha256 cannot be verified there`,
        );
      const oracle = {name: "StateRootOracle", bytecode: StateRootOracle.bytecode, args};
      return {verifier: {...verifier, args: []}, oracle};
    },
  },
  claim: {
    flags: ["verifier", "oracle", "block", "account", "slot"],
    async plan({verifier, oracle, block, account, slot}, node) {
      const args = [
        await readContract("verifier", verifier, node),
        await readContract("oracle", oracle, node),
        readNumber("block", block),
        readAddress("account", account),
        readNumber("slot", slot),
      ];
      return {claim: {name: "Claim", bytecode: Claim.bytecode, args}};
    },
  },
  deposit: {
    flags: [],
    plan: async () => ({deposit: {name: "Deposit", bytecode: Deposit.bytecode, args: []}}),
  },
};

function readAddress(flag: string, text: string | undefined): string {
  if (text !== undefined && /^0x[0-9a-fA-F]{40}$/.test(text)) return text;
  throw new UsageError(`--${flag}: expected an address, 0x and 40 hex digits, got "${text ?? ""}"`);
}

async function readContract(flag: string, text: string | undefined, node: Node): Promise<string> {
  const address = readAddress(flag, text);
  if ((await node.ask("eth_getCode", address, "latest")) !== "0x") return address;
  throw new Error(`--${flag}: ${address} is not a contract on the chain of ${node.name}`);
}

function readNumber(flag: string, text: string | undefined): bigint {
  if (text !== undefined && /^(\d{1,77}|0x[0-9a-fA-F]{1,64})$/.test(text)) return BigInt(text);
  throw new UsageError(`--${flag}: expected a number, got "${text ?? ""}"`);
}

function readFlags(name: string, command: Command, args: readonly string[]): Flags {
  const options = Object.fromEntries(
    ["url", ...command.flags].map(flag => [flag, {type: "string"} as const]),
  );
  try {
    return parseArgs({args: [...args], options}).values;
  } catch (error) {
    throw new UsageError(`${name}: ${(error as Error).message}`);
  }
}

async function deploy([name = "", ...args]: readonly string[]): Promise<void> {
  const command = Object.hasOwn(COMMANDS, name) ? COMMANDS[name] : undefined;
  if (command === undefined)
    throw new UsageError(`expected one of ${Object.keys(COMMANDS).join(", ")}, got "${name}"`);
  const flags = readFlags(name, command, args);
  const node = new Node(flags.url ?? "");
  const {DEPLOY_KEY: key} = process.env;
  if (key === undefined)
    throw new UsageError(
      "the variable DEPLOY_KEY is missing: the private key of the account that pays, 0x and 64 hex digits",
    );
  const account = readKey(key);
  const addresses: Record<string, string> = {};
  for (const [part, creation] of Object.entries(await command.plan(flags, node))) {
    const {address, transaction} = await create(node, account, creation).catch((error: Error) => {
      throw new Error(`${creation.name}: ${error.message}`);
    });
    addresses[part] = address;
    process.stderr.write(`${creation.name} is at ${address}, by transaction ${transaction}\n`);
  }
  process.stdout.write(`${JSON.stringify(addresses)}\n`);
}

const args = process.argv.slice(2);
if (args.length === 0 || args.includes("--help")) process.stdout.write(HELP);
else
  await deploy(args).catch((error: Error) => {
    const isUsage = error instanceof UsageError;
    process.stderr.write(`error: ${error.message}${isUsage ? " (see --help)" : ""}\n`);
    process.exitCode = isUsage ? EXIT_USAGE : EXIT_FAILED;
  });
