/** docs/bridging.md: its commands, run in their order by one shell as its reader does, print what the page prints. */
import assert from "node:assert/strict";
import {dirname} from "node:path";
import {test} from "node:test";
import {keccak_256} from "@noble/hashes/sha3.js";
import {encodeHex} from "../../../client/bytes/hex.ts";
import {WorkFolder} from "../../support/chains/serviceChain.ts";
import {ROOT, readBlocks, readDocument, readSection} from "../../support/documents/printedBlocks.ts";
import {Anvil} from "../../support/processes/anvil.ts";
import {runChild} from "../../support/processes/childProcesses.ts";
import {findProgram} from "../../support/processes/foundProgram.ts";
import {findPorts} from "../../support/processes/freePorts.ts";
import {notRun} from "../../support/processes/notRun.ts";

/** Ports of the page: of layer 1, layer 2 and proofd. */
const PORTS = ["9545", "9546", "9547"];
const FOLDER = "/tmp/bridge";

const page = readDocument("docs/bridging.md");

/** Answers as the page prints them: dots stand for what differs each time. */
function patternOf(printed: string): RegExp {
  const parts = printed.split("...").map(part => part.replace(/[.*+?^${}()|[\]\\]/g, "\\$&"));
  return new RegExp(`^${parts.join("\\w+")}$`);
}

test("the page's commands lead from two empty nodes to a paid claim", async t => {
  // The page starts it by its path.
  const trial = await Anvil.start([]);
  if (typeof trial === "string") return notRun(t, trial);
  await trial.stop();
  if (findProgram("curl") === undefined) return notRun(t, "there is no curl");
  const folder = new WorkFolder();
  const blocks = readBlocks(page);
  const begin = blocks.findIndex(({language}) => language === "sh");
  const commands = blocks.filter(({language}) => language === "sh").map(({text}) => text);
  const answers = blocks.slice(begin).filter(({language}) => language === "");
  assert.ok(commands.length >= 7 && answers.length >= 4, "the page prints commands and answers");
  const ports = (await findPorts(PORTS.length)).map(String);
  let script = commands.join("").replaceAll(FOLDER, folder.file("bridge"));
  for (const [i, port] of PORTS.entries()) {
    assert.ok(script.includes(port), `port ${port}`);
    script = script.replaceAll(new RegExp(`\\b${port}\\b`, "g"), ports[i] as string);
  }
  // The same command, which looks every 100 ms what layer 1 has finalized, not every 12 s.
  const serve = "node dist/cli/main.js serve";
  assert.ok(script.includes(serve), serve);
  script = script.replace(serve, "node dist/test/support/processes/tunedServe.js {}");
  const env = {PATH: `${dirname(process.execPath)}:${process.env.PATH}`};
  const {code, stdout, stderr} = await runChild("sh", ["-e", "-c", script], {cwd: ROOT, env});
  assert.equal(code, 0, stdout + stderr);
  assert.match(stdout, patternOf(answers.map(({text}) => text).join("")));
});

test("the events that the page lists have the first topics that stand beside them", () => {
  const section = readSection(page, "A rollup contract instead of the oracle");
  const rows = [...section.matchAll(/^\| `(\w+)\(([^`]*)\)` \| `(0x\w{64})` \|$/gm)];
  assert.equal(rows.length, 3);
  for (const [, name, parameters, topic] of rows) {
    const types = (parameters as string).split(", ").map(parameter => parameter.split(" ")[0]);
    assert.equal(topic, encodeHex(keccak_256(Buffer.from(`${name}(${types})`))), name);
  }
});
