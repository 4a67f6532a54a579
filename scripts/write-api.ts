/** `npm run write -- api`: writes docs/api anew from the declarations of the packages that applications build on. */
import './build.ts';
import { writeReports } from './packages/api-files.ts';

for (const file of writeReports()) console.log(`docs/api/${file}`);
