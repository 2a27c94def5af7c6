/** What a service must end, in the order in which it was started. */
import {WorkError} from "./workError.ts";

interface Part {
  /** For the operator, as in "still open: the store". */
  readonly name: string;
  readonly end: () => Promise<void>;
}

export class Ends {
  private readonly parts: Part[] = [];

  add(name: string, end: () => Promise<void>): void {
    this.parts.push({name, end});
  }

  /**
   * Ends the last part first, one after the other.
   *
   * @throws WorkError that names the parts that have not ended in time. They may still end
   */
  async run(timeoutMs: number): Promise<void> {
    let timer: NodeJS.Timeout | undefined;
    const late = new Promise<never>((_, reject) => {
      timer = setTimeout(() => {
        const names = this.parts.map(({name}) => name).reverse();
        reject(new WorkError(`the stop takes longer than ${timeoutMs} ms; still open: ${names.join(", ")}`));
      }, timeoutMs);
    });
    try {
      await Promise.race([this.endAll(), late]);
    } finally {
      clearTimeout(timer);
    }
  }

  private async endAll(): Promise<void> {
    for (let part = this.parts.at(-1); part !== undefined; part = this.parts.at(-1)) {
      await part.end();
      this.parts.pop();
    }
  }
}
