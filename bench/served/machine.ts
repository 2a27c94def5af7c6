/** The machine of a bench that runs servers, with the command that ran it. */
import {totalmem} from "node:os";
import {
  type Machine as BareMachine,
  commitText,
  describeMachine as describeBare,
} from "../load/report/machine.ts";

export interface Machine extends BareMachine {
  readonly memoryGb: number;
  readonly command: string;
}

/** @param npmScript - "bench:peers" */
export function describeMachine(npmScript: string): Machine {
  const args = process.argv.slice(2).join(" ");
  return {
    ...describeBare(),
    memoryGb: Math.round(totalmem() / 2 ** 30),
    command: `npm run ${npmScript}${args === "" ? "" : ` -- ${args}`}`,
  };
}

export function writeMachine(machine: Machine): string {
  const {node, cores, cpu, memoryGb, command} = machine;
  return `Node ${node}, ${cores} cores (${cpu}), ${memoryGb} GB, commit ${commitText(machine)}; ${command}`;
}
