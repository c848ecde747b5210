// Codes that people try first: of src/tbl/easy_codes.def, or with the same step from each digit to the next.

const KNOWN = /^(19(7[3-9]|8\d|9[0-68])|200[0245]|2020|1010|1122|1212|13(13|42)|2580|6969|112233|121212|123(123|321)|159753|696969)$/;

/** Is it easily guessed? @param {string} code */
export function isEasy(code) {
    const steps = [...code].slice(1).map((digit, i) => Number(digit) - Number(code[i]));
    return KNOWN.test(code) || (code.length > 3 && steps.every((step) => step === steps[0]));
}
