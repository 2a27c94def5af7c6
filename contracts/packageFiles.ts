/**
 * Run by the build: generates dist/contracts.js of the package proofd-contracts, and its types, from artefacts.json.
 *
 *   export const Claim = {abi, bytecode}    its type has the ABI's literals, as after `as const`
 */
import {mkdirSync, readFileSync, writeFileSync} from "node:fs";
import {ARTEFACTS, type Artefacts} from "./artefacts.ts";

const OUTPUT = new URL("dist/", ARTEFACTS);

function typeOf(value: unknown): string {
  if (Array.isArray(value)) return `readonly [${value.map(typeOf).join(", ")}]`;
  if (typeof value !== "object" || value === null) return JSON.stringify(value);
  const members = Object.entries(value).map(([name, member]) => `readonly ${name}: ${typeOf(member)}`);
  return `{${members.join("; ")}}`;
}

const {contracts} = JSON.parse(readFileSync(ARTEFACTS, "utf8")) as Artefacts;
let code = "";
let types = "";
for (const [name, {abi, bytecode}] of Object.entries(contracts)) {
  code += `export const ${name} = ${JSON.stringify({abi, bytecode})};\n`;
  types += `/** \`bytecode\` is creation code; encoded constructor arguments follow it. */\n`;
  types += `export declare const ${name}: {readonly abi: ${typeOf(abi)}; readonly bytecode: \`0x\${string}\`};\n`;
}
mkdirSync(OUTPUT, {recursive: true});
writeFileSync(new URL("contracts.js", OUTPUT), code);
writeFileSync(new URL("contracts.d.ts", OUTPUT), types);
