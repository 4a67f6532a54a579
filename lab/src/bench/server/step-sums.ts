/** The work of a server for some requests, added up by step, in ms. */
export interface StepSums {
  requests: number;
  /** From the head of a request to its answer. */
  wholeMs: number;
  /** From the head to the last byte of the body. Work on single blocks runs during this time. */
  receiveMs: number;
  hashMs: number;
  writeMs: number;
  syncMs: number;
  /** Opening, making and renaming files and folders. */
  namesMs: number;
  commitMs: number;
  collectMs: number;
  /** Of all threads. */
  cpuMs: number;
  /** The time for which the thread that answers was busy. */
  threadMs: number;
}

export function noSteps(): StepSums {
  const none = { hashMs: 0, writeMs: 0, syncMs: 0, namesMs: 0, commitMs: 0, collectMs: 0, cpuMs: 0, threadMs: 0 };
  return { requests: 0, wholeMs: 0, receiveMs: 0, ...none };
}
