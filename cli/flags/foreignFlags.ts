/** Flags of geth and Besu, and the flags of proofd that correspond to them. */
import type {Command} from "commander";

const OWN_NAMES: ReadonlyMap<string, string> = new Map([
  ...entries("--db", "datadir data-path"),
  ...entries("--host", "http.addr rpc-http-host"),
  ...entries("--port", "http.port rpc-http-port"),
  ...entries("--cors", "http.corsdomain rpc-http-cors-origins"),
  ...entries("--allow-host", "http.vhosts host-allowlist"),
  ...entries("--gas-cap", "rpc.gascap rpc-gas-cap"),
  ...entries("--chain-id", "networkid network-id"),
  ...entries("--genesis", "genesis-file"),
  ...entries("--config", "config-file"),
  ...entries("--log-level", "verbosity logging"),
]);

function entries(own: string, foreign: string): (readonly [string, string])[] {
  return foreign.split(" ").map(name => [`--${name}`, own]);
}

/** @returns the message of commander, with the flag of proofd that corresponds to the unknown one */
export function adviseOnFlags(message: string, {options}: Command): string {
  const [, flag = ""] = /'(--[\w.-]+)(?:=[^']*)?'/.exec(message.replace(/option '[^']*' argument/, "")) ?? [];
  const own = OWN_NAMES.get(flag);
  if (!options.some(({long}) => long === own)) return message;
  const [first] = message.split("\n(Did you mean");
  return `${first?.trimEnd()}\n(Did you mean ${own}?)\n`;
}
