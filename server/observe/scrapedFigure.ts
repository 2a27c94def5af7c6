/** Metrics of one figure, which is read when /metrics is asked for. */
import {Counter, Gauge, type Registry} from "prom-client";

/** A gauge that is not shown while its figure is unknown. */
export function registerKnown(
  registers: Registry[],
  name: string,
  help: string,
  read: () => number | undefined,
): void {
  new Gauge({
    name,
    help,
    registers,
    collect() {
      const value = read();
      if (value === undefined) this.remove();
      else this.set(value);
    },
  });
}

export function registerGauge(registers: Registry[], name: string, help: string, read: () => number): void {
  new Gauge({
    name,
    help,
    registers,
    collect() {
      this.set(read());
    },
  });
}

/** @param read - gives the whole count */
export function registerTotal(registers: Registry[], name: string, help: string, read: () => number): void {
  new Counter({
    name,
    help,
    registers,
    collect() {
      this.reset();
      this.inc(read());
    },
  });
}
