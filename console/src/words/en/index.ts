import frame from "./frame";
import health from "./health";
import login from "./login";
import overview from "./overview";
import states from "./states";
import trouble from "./trouble";

export default { frame, health, login, overview, states, trouble };
