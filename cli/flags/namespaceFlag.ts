/** The flag `--namespace` of `proofd serve`: a prefix of method names. */
import {InvalidArgumentError} from "commander";
import {value} from "./flagTable.ts";

const NAME = /^[a-zA-Z][a-zA-Z0-9]{0,31}$/;
/** Prefixes that mean something else to clients, in lower case. */
const RESERVED: readonly string[] = ["chain", "eth", "net", "web3", "rpc", "rollup", "admin"];

export const NAMESPACE_FLAG = value("<name>", parseNamespace).says(
  "also serve NAME_getProof, NAME_estimateGas and rollup_getZkEVMBlockNumber, as the live network's own server does; linea adds linea_getProof",
);

function parseNamespace(text: string): string {
  if (!NAME.test(text))
    throw new InvalidArgumentError(
      "Expected up to 32 letters and digits, the first a letter, such as linea.",
    );
  if (RESERVED.includes(text.toLowerCase()))
    throw new InvalidArgumentError(`Expected another name than ${RESERVED.join(", ")}.`);
  return text;
}
