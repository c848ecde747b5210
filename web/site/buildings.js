import './lib/page.js';
