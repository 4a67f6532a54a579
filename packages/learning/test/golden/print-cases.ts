/** Prints the cases as JSON for make.py: `node --import ../../../../scripts/typescript.mjs --conditions=@basa/source print-cases.ts > cases.json`. */
import { goldenCases } from './cases.ts';

console.log(JSON.stringify(goldenCases()));
