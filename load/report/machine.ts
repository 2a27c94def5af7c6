/** The machine and the Node release that figures were measured with. */
import {availableParallelism, cpus, totalmem} from "node:os";

export type Machine = ReturnType<typeof describeMachine>;

export function describeMachine() {
  return {
    cpu: cpus()[0]?.model.trim() ?? "unknown",
    cores: availableParallelism(),
    memoryGb: Math.round(totalmem() / 2 ** 30),
    node: process.versions.node,
  };
}

export function writeMachine({cpu, cores, memoryGb, node}: Machine): string {
  return `${cpu}, ${memoryGb} GB, ${cores} ${cores === 1 ? "core" : "cores"}, Node ${node}`;
}
